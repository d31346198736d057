FROM @IMAGE@
COPY pictures /task
WORKDIR /task
USER root
