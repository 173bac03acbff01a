#!/usr/bin/env python3
"""Records what the real gcloud sends and prints: record.py [NAME...]. Overwrites recorded/NAME.json; review the diff.

Needs a gcloud (of version 528, say) on PATH. Tests never run this."""

import json
import os
import pathlib
import sys

from cases import CASES
from run_case import run

HERE = pathlib.Path(__file__).parent


def gcloud_environment(port, directory):
    return {
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_ML": f"http://127.0.0.1:{port}/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": f"http://127.0.0.1:{port}/storage/v1/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING": f"http://127.0.0.1:{port}/",
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_CORE_PROJECT": "example",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_CONFIG": os.path.join(directory, ".gcloud"),
    }


def main():
    chosen = sys.argv[1:]
    for name, case in CASES.items():
        if chosen and name not in chosen:
            continue
        seen = run(case, ["gcloud"], gcloud_environment)
        (HERE / "recorded").mkdir(exist_ok=True)
        (HERE / "recorded" / f"{name}.json").write_text(json.dumps(seen, indent=1) + "\n")
        print(f"{name}: exit {seen['exit']}, {len(seen['requests'])} requests")


if __name__ == "__main__":
    main()
