"""A client of gRPC for tests, in a process with Google's SDK: `python vertex_grpc.py HOST:PORT CA_FILE`. It reads lines from stdin and
answers each with a line, both of them JSON objects:

{"rpc": "/google.cloud.aiplatform.v1.JobService/GetCustomJob", "request": {...}}  sends it as bytes
{"type": "CustomJob", "json": {...}}  reads it as the SDK reads an answer of REST
-> {"status": "OK", "type": "CustomJob", "answer": {...}} or {"status": "NOT_FOUND", "message": "..."}

An answer has the names of enums and no unset members. What cannot be read has the status UNREADABLE."""

import json
import pathlib
import re
import sys

import grpc
from google.cloud import aiplatform_v1, aiplatform_v1beta1
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2, json_format

TRIALS = ("AddTrialMeasurement", "CompleteTrial", "StopTrial")
OPERATIONS = ("SuggestTrials", "CheckTrialEarlyStoppingState")


def message(name, version="v1"):
    """The class of that name in the version's types."""
    if name in ("Operation", "Empty"):
        return {"Operation": operations_pb2.Operation, "Empty": empty_pb2.Empty}[name]
    return getattr(aiplatform_v1beta1 if version == "v1beta1" else aiplatform_v1, name).pb()


def answer_of(method):
    """The type of a method's answer: "CustomJob" for "GetCustomJob"."""
    if method.startswith("Delete") or method in OPERATIONS:
        return "Operation"
    if method.startswith("Cancel"):
        return "Empty"
    if method in TRIALS:
        return "Trial"
    return f"{method}Response" if method.startswith("List") else re.sub("^(Create|Get|Lookup)", "", method)


def printed(read):
    return {"status": "OK", "type": type(read).__name__, "answer": json_format.MessageToDict(read)}


def call(channel, rpc, request):
    version, method = re.fullmatch(r"/google\.cloud\.aiplatform\.(\w+)\.\w+/(\w+)", rpc).groups()
    asked = json_format.ParseDict(request, message(f"{method}Request", version)())
    send = channel.unary_unary(rpc, request_serializer=None, response_deserializer=None)
    try:
        answered = send(asked.SerializeToString(), timeout=60)
    except grpc.RpcError as error:
        return {"status": error.code().name, "message": error.details()}
    return printed(message(answer_of(method), version).FromString(answered))


def serve(address, ca_file):
    credentials = grpc.ssl_channel_credentials(pathlib.Path(ca_file).read_bytes())
    with grpc.secure_channel(address, credentials) as channel:
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                reply = call(channel, asked["rpc"], asked["request"]) if "rpc" in asked else printed(
                    json_format.ParseDict(asked["json"], message(asked["type"])()))
            except json_format.ParseError as mistake:
                reply = {"status": "UNREADABLE", "message": str(mistake)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
