"""Each replica listens where TF_CONFIG says it is and asks its right neighbour who that is; the master hears from all of them that
they see the same cluster, and prints what it heard."""

import hashlib
import json
import os
import socket
import threading
import time

PATIENCE_S = 300  # hundreds of interpreters start on few processors


def everybody(cluster):
    return [(role, index, address) for role in sorted(cluster) for index, address in enumerate(cluster[role])]


def connect(address):
    host, port = address.rsplit(":", 1)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)  # it has not begun to listen yet


def ask(address, question):
    with connect(address) as peer, peer.makefile("rw") as lines:
        lines.write(json.dumps(question) + "\n")
        lines.flush()
        return json.loads(lines.readline())


def main():
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = config["cluster"], config["task"]
    me = [os.environ["CLOUD_ML_JOB_ID"], task["type"], task["index"]]
    replicas = everybody(cluster)
    digest = hashlib.sha256(json.dumps(cluster, sort_keys=True).encode()).hexdigest()
    heard, done = {}, threading.Condition()

    def serve(peer):
        with peer, peer.makefile("rw") as lines:
            question = json.loads(lines.readline())
            if "report" in question:
                with done:
                    heard[tuple(question["report"])] = question
                    done.notify_all()
            lines.write(json.dumps({"who": me}) + "\n")
            lines.flush()

    port = int(cluster[task["type"]][task["index"]].rsplit(":", 1)[1])
    listener = socket.create_server(("", port), backlog=512)

    def accept():
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    place = replicas.index((task["type"], task["index"], cluster[task["type"]][task["index"]]))
    role, index, address = replicas[(place + 1) % len(replicas)]
    neighbour = ask(address, {})["who"]
    report = {"report": me, "digest": digest, "right_neighbour": neighbour == [me[0], role, index]}
    master = "master" if "master" in cluster else "chief"
    if task["type"] != master:
        ask(cluster[master][0], report)
        threading.Event().wait()  # until the service ends it: its neighbour may still ask
    with done:
        heard[tuple(me)] = report
        complete = done.wait_for(lambda: len(heard) == len(replicas), PATIENCE_S)
    print("roll call: " + json.dumps({
        "replicas": len(replicas), "heard": len(heard), "complete": complete,
        "clusters": len({one["digest"] for one in heard.values()}), "ports": len({a.rsplit(":", 1)[1] for _, _, a in replicas}),
        "wrong_neighbours": sum(not one["right_neighbour"] for one in heard.values())}))


if __name__ == "__main__":
    main()
