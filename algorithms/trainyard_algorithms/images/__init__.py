"""Pictures in TFRecord files: what the two image trainers share."""
