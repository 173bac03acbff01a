"""What the two XGBoost algorithms share: parameters, data, training, metrics, saving, the cluster."""

import os

# Replicas share a machine's cores. OpenMP's threads wait for each other by spinning, which keeps those that
# they wait for from running: a round takes a hundred times as long. Read when XGBoost is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
