FROM @IMAGE@
COPY test.sh /tests/test.sh
