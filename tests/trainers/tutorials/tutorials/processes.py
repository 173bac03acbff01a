"""Workers by multiprocessing in each of its ways, shared memory between them, and one that is left behind at the end."""

import concurrent.futures
import json
import multiprocessing
import os
import sys
from multiprocessing import shared_memory


def square(number):
    return number * number


def fill(name, start):
    block = shared_memory.SharedMemory(name=name)
    block.buf[start] = start
    block.close()


def put(queue):
    queue.put((os.environ["CLOUD_ML_JOB_ID"], json.loads(os.environ["TF_CONFIG"])["task"]["index"]))


def main():
    with multiprocessing.get_context("fork").Pool(3) as pool:
        forked = sum(pool.map(square, range(100)))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        spawned = sum(pool.map(square, range(10)))
    context = multiprocessing.get_context("forkserver")
    queue = context.Queue()
    process = context.Process(target=put, args=(queue,))
    process.start()
    seen = queue.get()
    process.join()
    block = shared_memory.SharedMemory(create=True, size=8 << 20)
    processes = [multiprocessing.Process(target=fill, args=(block.name, index)) for index in range(4)]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    shared = bytes(block.buf[:4]).hex()
    block.close()
    block.unlink()
    os.makedirs(f"/gcs/{sys.argv[-1][len('gs://'):]}", exist_ok=True)
    with open(f"/gcs/{sys.argv[-1][len('gs://'):]}/result.json", "w") as out:
        json.dump({"forked": forked, "spawned": spawned, "seen": seen, "shared": shared, "statuses": [one.exitcode for one in processes]}, out)
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", sys.argv[1]])


if __name__ == "__main__":
    main()
