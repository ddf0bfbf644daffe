"""A sweep with Ray: a task for each part. Started again after a failure, it runs what is missing.

    python3 ray_sweep.py QUESTION.toml FOLDER PARTS

All nodes of the cluster have to see FOLDER and have `lockwright` on their PATH.
"""

import os
import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def run(question, folder, part, parts):
    shard = f"{part}/{parts}"
    line = ["lockwright", "sweep", question, "--out", folder, "--shard", shard, "--jobs", "1", "--quiet"]
    subprocess.run(line, check=True)
    return part


def main():
    question, folder, parts = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    ray.init()
    ray.get([run.remote(question, folder, part, parts) for part in range(1, parts + 1)])
    subprocess.run(["lockwright", "sweep", "merge", folder, "--jsonl", f"{folder}/merged.jsonl"], check=True)


if __name__ == "__main__":
    main()
