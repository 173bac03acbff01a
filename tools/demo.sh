#!/usr/bin/env bash
# Trains the examples against a server of its own and shows what came out. usage: tools/demo.sh PROGRAM
set -euo pipefail
program=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")/.."
data=$PWD/build/demo
mkdir -p "$data"

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

exec {announced}< <(exec "$program" serve --data "$data" --listen 127.0.0.1:0 2>"$data/server.log")
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
read -r -u "$announced" _ _ url || { cat "$data/server.log"; exit 1; }
export TRAINYARD_SERVER=$url CLOUDSDK_CORE_PROJECT=demo CLOUDSDK_ML_ENGINE_POLLING_INTERVAL=1
say "the server listens on $url and keeps everything in build/demo"

stamp=$(date +%Y%m%d_%H%M%S)

say "a package job: examples/iris_sklearn (the first run builds runtime version 2.15: TensorFlow, scikit-learn, XGBoost)"
"$program" jobs submit training "iris_$stamp" \
  --package-path examples/iris_sklearn/trainer --module-name trainer.task \
  --job-dir "gs://demo-models/iris_$stamp" --region us-central1 --scale-tier basic --runtime-version 2.15 --stream-logs
"$program" jobs describe "iris_$stamp"

say "the model in the job-dir, and a prediction from it"
"$program" storage ls "gs://demo-models/iris_$stamp/**"
runtime=$(dirname "$(ls -d "$data"/environments/runtimes/2.15-*/bin/python | head -n 1)")
"$runtime/python" -c 'import joblib, sys
print("petals 5.1 x 3.5 and 1.4 x 0.2 cm:", joblib.load(sys.argv[1]).predict([[5.1, 3.5, 1.4, 0.2]])[0])' \
  "$data/buckets/demo-models/iris_$stamp/model/model.joblib"

say "a distributed job: 1 master, 2 workers, 1 parameter server, 1 evaluator (examples/distributed)"
"$program" jobs submit training "distributed_$stamp" \
  --package-path examples/distributed/trainer --module-name trainer.task --config examples/distributed/config.yaml \
  --job-dir "gs://demo-models/distributed_$stamp" --region us-central1 --stream-logs
"$program" jobs describe "distributed_$stamp"
"$program" storage ls "gs://demo-models/distributed_$stamp/**"

say "both jobs"
"$program" jobs list --limit 2
