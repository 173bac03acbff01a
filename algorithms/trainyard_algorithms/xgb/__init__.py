"""What the two XGBoost algorithms share: parameters, data, training, metrics, saving, the cluster."""
