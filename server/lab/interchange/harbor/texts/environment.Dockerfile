FROM @BASE@
COPY pictures /task
WORKDIR /task
