#!/bin/sh
exec python3 /solution/solve.py /solution/reference.json @URL@
