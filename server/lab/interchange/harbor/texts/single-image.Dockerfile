# One image for trainers that start one container for each task: agent and server are in it as two users, so that the
# agent cannot read the tasks, the references and the record. Build it once, in this folder, before the first trial:
#
#   docker build -t @IMAGE@ .
#
# The second image must have the Python that the first was made with, and a shell, which the first has not.
FROM @SERVICE@ AS m3bench

FROM @BASE@
COPY --from=m3bench --chown=10001:10001 /m3bench /m3bench
COPY --chown=10001:10001 . /m3bench/harbor
COPY --from=m3bench --chown=10001:10001 /data /data
RUN chmod 700 /m3bench /data && mkdir -p /home/agent /verdict && chown 10002:10002 /home/agent && chmod 700 /verdict \
    && chown 10001:10001 /verdict && echo 'agent:x:10002:10002::/home/agent:/bin/sh' >> /etc/passwd \
    && echo 'agent:x:10002:' >> /etc/group
ENV LANG=C.UTF-8
