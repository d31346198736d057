#!/bin/sh
# Scores the sealed run again that was collected from the server, and writes the reward. Nothing here comes from the
# agent's container. Without a reward file Harbor reports an error: the server failed, not the agent.
exec sh /m3bench/harbor/m3bench.sh lab harbor reward /verdict --task @TASK@ -o /logs/verifier
