"""Pulling images: ours compared with the tool that it is built on."""

import os
import random
import shutil
import subprocess
import sys
import time

from harness import ROOT, quantile

LAYERS, LAYER_MB = 6, 48


def image_pull(bench, rounds=5):
    """An image of six layers from a registry on loopback into an empty cache, unpacked and durable; compared with skopeo alone, which
    unpacks and syncs nothing, and skopeo with umoci, one after the other."""
    for program in ("skopeo", "docker-registry", "busybox"):
        if not shutil.which(program):
            print(f"image_pull: {program} is not installed")
            return
    sys.path.insert(0, str(ROOT / "tests/e2e"))
    import container_images
    images = container_images.Images(bench.folder / "images/layout")
    noise = random.Random(6)
    # Like programs and libraries: a third of it compresses well.
    files = [{f"/data/{layer}/{number}": noise.randbytes(2 << 20) + b"abcdefgh" * (1 << 17) for number in range(LAYER_MB // 3)}
             for layer in range(LAYERS)]
    images.derive("busybox", "bench", layers=[container_images.tar_of(each) for each in files])
    registry = container_images.Registry(bench.folder / "registry")
    try:
        uri = registry.push(images["bench"])
        seen = {"ours": [], "copy": [], "both": []}
        for number in range(rounds):
            folder = bench.folder / f"pull{number}"
            folder.mkdir()
            seen["ours"].append(timed([bench.program, "images", "pull", uri, "--data", folder / "data"]))
            copy = ["skopeo", "copy", "-q", "--insecure-policy", "--src-tls-verify=false", f"docker://{uri}", f"oci:{folder}/oci:x"]
            seen["copy"].append(timed(copy))
            if shutil.which("umoci") and os.geteuid() == 0:
                unpack = ["umoci", "unpack", "--image", f"{folder}/oci:x", folder / "bundle"]
                seen["both"].append(seen["copy"][-1] + timed(unpack))
            shutil.rmtree(folder)
    finally:
        registry.stop()
    size = LAYERS * LAYER_MB
    rates = {name: f"{size / quantile(times, 0.5):.0f} MB/s ({quantile(times, 0.5):.2f} s)" for name, times in seen.items() if times}
    beside = f"`skopeo copy` alone, packed {rates['copy']}"
    beside += f"; and `umoci unpack` {rates['both']}" if "both" in rates else ""
    bench.row(f"image of {size} MB in {LAYERS} layers: pulled, unpacked, durable", "", rates["ours"], beside, costs=quantile(seen["ours"], 0.5))


def timed(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin
