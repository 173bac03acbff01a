"""google.cloud.storage used in full: many files in parallel, preconditions, metadata, streams, a large resumable upload."""

import json
import os
import sys

from google.api_core.exceptions import PreconditionFailed
from google.cloud import storage
from google.cloud.storage import transfer_manager

name, folder = sys.argv[-1][len("gs://"):].split("/", 1)
bucket = storage.Client().get_bucket(name)
os.makedirs("shards/deep")
for number in range(30):
    with open(f"shards/deep/{number:02}.txt" if number % 2 else f"shards/{number:02}.txt", "w") as file:
        file.write(f"shard {number}")
names = [os.path.join(where, one) for where, _, files in os.walk("shards") for one in files]
uploaded = transfer_manager.upload_many_from_filenames(bucket, names, blob_name_prefix=folder + "/", worker_type="thread",
                                                       raise_exception=True)
lock = bucket.blob(folder + "/lock")
lock.upload_from_string("mine", if_generation_match=0)
try:
    lock.upload_from_string("mine again", if_generation_match=0)
    taken = False
except PreconditionFailed:
    taken = True
with bucket.blob(folder + "/rows.csv").open("w") as out:
    out.writelines(f"{number},{number * number}\n" for number in range(1000))
with bucket.blob(folder + "/rows.csv").open() as back:
    total = sum(int(line.split(",")[1]) for line in back)
large = bucket.blob(folder + "/large.bin", chunk_size=1 << 20)
large.metadata = {"epoch": "7"}
large.upload_from_string(os.urandom(5 << 20), checksum="crc32c")
large.reload()
joined = bucket.blob(folder + "/joined.txt")
joined.compose([bucket.blob(f"{folder}/shards/{number:02}.txt") for number in (0, 2, 4)])
pages = bucket.list_blobs(prefix=folder + "/shards/", delimiter="/", page_size=7)
flat = [blob.name for blob in pages]
bucket.rename_blob(bucket.blob(folder + "/lock"), folder + "/unlocked")
bucket.blob(folder + "/result.json").upload_from_string(json.dumps({
    "uploaded": len(uploaded), "taken": taken, "total": total, "metadata": large.metadata, "size": large.size, "flat": len(flat),
    "folders": sorted(pages.prefixes), "joined": joined.download_as_text()}), content_type="application/json")
