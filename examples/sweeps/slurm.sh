#!/bin/sh
# A sweep with Slurm: an array with a task for each part, and a job that merges when all have ended well.
#   slurm.sh QUESTION.toml FOLDER PARTS
# All nodes have to see FOLDER. Submit it again after a failure: what is there is not run.
set -eu
question=$1 folder=$2 parts=$3
mkdir -p "$folder"
array=$(sbatch --parsable --array="1-$parts" --cpus-per-task=1 --output="$folder/slurm-%a.log" \
    --wrap "lockwright sweep '$question' --out '$folder' --shard auto --jobs 1 --quiet")
sbatch --parsable --dependency="afterok:$array" --output="$folder/slurm-merge.log" \
    --wrap "lockwright sweep merge '$folder' --jsonl '$folder/merged.jsonl'"
