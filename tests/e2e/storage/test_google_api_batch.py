"""google-api-python-client's batches, unmodified, by the discovery document's batchPath."""

import pytest
import requests

discovery = pytest.importorskip("googleapiclient.discovery", reason="SKIPPED: google-api-python-client is not installed")
httplib2 = pytest.importorskip("httplib2")


def test_storage_batch(server):
    document = requests.get(server.url + "/discovery/v1/apis/storage/v1/rest")
    if not document.ok:
        pytest.skip("SKIPPED: this server has no discovery documents")
    storage = discovery.build_from_document(document.json(), http=httplib2.Http())
    storage.buckets().insert(project="p", body={"name": "bucket"}).execute()
    answers = {}
    batch = storage.new_batch_http_request(
        callback=lambda request_id, response, error: answers.update({request_id: error.status_code if error else response}))
    batch.add(storage.buckets().get(bucket="bucket"), request_id="there")
    batch.add(storage.buckets().patch(bucket="bucket", body={"labels": {"k": "\u00fc"}}), request_id="patched")
    batch.add(storage.buckets().get(bucket="nothing"), request_id="missing")
    batch.execute()
    assert answers["there"]["name"] == "bucket"
    assert answers["patched"]["labels"] == {"k": "\u00fc"}
    assert answers["missing"] == 404


def test_ml_batch(server):
    document = requests.get(server.url + "/discovery/v1/apis/ml/v1/rest")
    if not document.ok:
        pytest.skip("SKIPPED: this server has no ml API")
    ml = discovery.build_from_document(document.json(), http=httplib2.Http())
    answers = {}
    batch = ml.new_batch_http_request(
        callback=lambda request_id, response, error: answers.update({request_id: error.status_code if error else response}))
    batch.add(ml.projects().jobs().list(parent="projects/p"), request_id="list")
    batch.add(ml.projects().jobs().get(name="projects/p/jobs/nothing"), request_id="missing")
    batch.execute()
    assert answers == {"list": {}, "missing": 404}
