#!/bin/sh
# An agent that is root in its container and wants a reward without an answer: it writes whatever Harbor reads, looks
# for the references and the record, and asks the server for its pages.
mkdir -p /verdict /logs/verifier /logs/artifacts/verdict
for place in /verdict /logs/artifacts/verdict /logs/verifier; do
  echo '{"format": "m3bench/harbor-run", "version": 1, "task": "@TASK@", "state": "scored", "run": "0"}' >"$place/collected.json"
  echo '{"reward": 1.0, "solved": 1.0}' >"$place/reward.json"
  echo 1 >"$place/reward.txt"
  cp /bin/sh "$place/run.m3run"
done
ln -sf /verdict /logs/artifacts/link
find / -xdev \( -path '/m3bench*' -o -name plans.json -o -name '*.m3run' \) -not -path '/logs/*' -not -path '/verdict/*' 2>/dev/null
python3 - <<'END'
from urllib.error import HTTPError
from urllib.request import urlopen

for path in ("/", "/live/state", "/live/events", "/live/results", "/live/tasks", "/live/task/@TASK@", "/metrics"):
    try:
        print(path, urlopen(f"http://127.0.0.1:8000{path}", timeout=10).status)
    except HTTPError as error:
        print(path, error.code)
END
echo "done"
