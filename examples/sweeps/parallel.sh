#!/bin/sh
# A sweep with GNU parallel: as many parts as asked for, as many at once as there are CPUs.
#   parallel.sh QUESTION.toml FOLDER PARTS
# With computers in a file, add for instance: --sshloginfile hosts --env PATH --workdir .
# Each job is one part of a folder that all computers see. Start it again after a failure: what is there is not run.
set -eu
question=$1 folder=$2 parts=$3
seq "$parts" | parallel --halt soon,fail=1 --line-buffer \
    lockwright sweep "$question" --out "$folder" --shard "auto/$parts" --jobs 1 --quiet '#' {}
lockwright sweep merge "$folder" --jsonl "$folder/merged.jsonl"
