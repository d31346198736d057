#!/bin/sh
# Seals and scores the agent's run, and writes the reward. What the agent left running is ended first, so that nothing
# writes there after this. Without a reward file Harbor reports an error: the server failed, not the agent.
set -eu
for process in /proc/[0-9]*; do
    [ "$(stat -c %u "$process" 2>/dev/null)" != 10002 ] || kill -9 "${process#/proc/}" 2>/dev/null || true
done
rm -rf /logs/verifier/* /verdict/* /data/reward
own="sh /m3bench/harbor/as-server.sh"
$own mkdir /data/reward
$own sh /m3bench/harbor/m3bench.sh lab harbor collect /verdict --task @TASK@
$own sh /m3bench/harbor/m3bench.sh lab harbor reward /verdict --task @TASK@ -o /data/reward
mkdir -p /logs/verifier
cp -r /data/reward/. /logs/verifier/
