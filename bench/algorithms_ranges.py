"""What the built-in algorithms are tuned over, with each range's source.

successor: the range of the same trainer's later product (kubeflow/pipelines, google_cloud_pipeline_components/preview/automl/tabular/
configs/{wide_and_deep,xgboost,tabnet_params_small_data_medium_search_space}.json). ours: another one, because the successor's are for
millions of rows, 5,000 to 50,000 steps and batches of 512 to 16,384 rows, and the tables here have hundreds; what else is said beside it.
"""

NAMES = ("linear_learner", "wide_deep_learner", "boosted_trees", "tab_net")
IMAGES = {"linear_learner": "linear_learner_cpu", "wide_deep_learner": "wide_deep_learner_cpu"}  # the others have their own names
OBJECTIVES = {"binary": "binary:logistic", "classes": "multi:softprob", "regression": "reg:squarederror"}
TREE_METRICS = {"binary": "logloss,auc", "classes": "mlogloss", "regression": "rmse"}
TAGS = {"binary": ("auc", "MAXIMIZE"), "classes": ("accuracy", "MAXIMIZE"), "regression": ("rmse", "MINIMIZE")}
TAB_NET_RATE = 0.01  # learning_rate is required: the table's own example
TUNED_STEPS = {"linear_learner": 2000, "wide_deep_learner": 2000, "tab_net": 400}  # ours, for time; the defaults are 5000


def double(name, low, high, scale, source):
    return {"parameterName": name, "type": "DOUBLE", "minValue": low, "maxValue": high, "scaleType": f"UNIT_{scale}_SCALE"}, source


def integer(name, low, high, source):
    return {"parameterName": name, "type": "INTEGER", "minValue": low, "maxValue": high, "scaleType": "UNIT_LINEAR_SCALE"}, source


def discrete(name, values, source):
    return {"parameterName": name, "type": "DISCRETE", "discreteValues": values}, source


def choice(name, values, source):
    return {"parameterName": name, "type": "CATEGORICAL", "categoricalValues": values}, source


RANGES = {
    "linear_learner": [
        double("learning_rate", 1e-4, 0.3, "LOG", "ours; successor up to 5e-4, with more steps"),
        choice("optimizer_type", ["adam", "ftrl", "sgd"], "successor"),
        discrete("l1_regularization_strength", [0, 0.01, 0.02], "successor; ftrl alone has it"),
        discrete("l2_regularization_strength", [0, 0.01, 0.02], "successor; ftrl alone has it"),
        discrete("batch_size", [32, 64, 128], "ours; successor 1024 to 16384"),
    ],
    "wide_deep_learner": [
        double("learning_rate", 1e-4, 0.1, "LOG", "ours; successor up to 5e-4, with more steps"),
        double("dnn_learning_rate", 1e-4, 0.1, "LOG", "ours; successor up to 5e-4, with more steps"),
        choice("dnn_optimizer_type", ["adam", "ftrl", "sgd"], "successor"),
        choice("hidden_units", ["30,30,30", "64", "120,60,60"], "successor has the first, the last is observed"),
        discrete("dnn_dropout", [0, 0.1, 0.2], "successor"),
        discrete("l2_regularization_strength", [0, 0.01, 0.02], "successor; ftrl alone has it"),
        discrete("batch_size", [32, 64, 128], "ours; successor 1024 to 16384"),
    ],
    "boosted_trees": [
        double("eta", 0.01, 1.0, "LOG", "ours; successor from 1e-4, with which 20 rounds learn nothing"),
        discrete("num_boost_round", [10, 20, 50, 100, 200], "ours; successor 1 to 20"),
        integer("max_depth", 2, 10, "ours; successor from 6"),
        double("min_child_weight", 0, 10, "LINEAR", "successor"),
        double("subsample", 0.5, 1, "LINEAR", "ours; successor from 1e-4"),
        double("colsample_bytree", 0.5, 1, "LINEAR", "ours; successor from 1e-4"),
        double("lambda", 1e-4, 10, "LOG", "ours; successor up to 1"),
        double("alpha", 1e-4, 1, "LOG", "successor"),
    ],
    "tab_net": [
        double("learning_rate", 1e-4, 0.03, "LOG", "successor"),
        integer("feature_dim", 16, 128, "ours; successor 50 to 200"),
        integer("num_decision_steps", 2, 6, "successor"),
        integer("num_transformer_layers", 2, 4, "ours; successor up to 6"),
        double("relaxation_factor", 1.2, 2.7, "LINEAR", "successor"),
        double("sparsity_loss_weight", 1e-6, 1e-3, "LOG", "successor"),
        double("batch_momentum", 0.5, 0.95, "LINEAR", "successor"),
        discrete("batch_size", [64, 128], "ours; successor 512 to 4096"),
    ],
}


def arguments(name, kind, steps=None):
    """The arguments of a job beside its data: what is required; `steps`: in place of the default."""
    if name == "boosted_trees":
        return [f"--objective={OBJECTIVES[kind]}", f"--eval_metric={TREE_METRICS[kind]}"]
    given = [f"--model_type={'regression' if kind == 'regression' else 'classification'}"]
    if steps:
        given.append(f"--max_steps={steps}")
    return given


def default_arguments(name, kind, steps=None):
    """All of them for a run with defaults."""
    return arguments(name, kind, steps) + ([f"--learning_rate={TAB_NET_RATE}"] if name == "tab_net" else [])


def hyperparameters(name, kind, trials):
    """The job's `hyperparameters`. One trial at a time: each suggestion knows all results. A trial may fail: with some of the
    learning rates training diverges."""
    tag, goal = TAGS[kind]
    return {"goal": goal, "hyperparameterMetricTag": tag, "maxTrials": trials, "maxParallelTrials": 1,
            "maxFailedTrials": trials, "params": [parameter for parameter, _ in RANGES[name]]}


def told():
    """The ranges as lines of a Markdown table."""
    lines = ["| algorithm | parameter | range | source |", "|---|---|---|---|"]
    for name, parameters in RANGES.items():
        for parameter, source in parameters:
            values = parameter.get("discreteValues") or parameter.get("categoricalValues")
            scale = ", log" if "LOG" in parameter.get("scaleType", "") else ""
            shown = "; ".join(map(str, values)) if values else f"{parameter['minValue']:g} to {parameter['maxValue']:g}{scale}"
            lines.append(f"| {name} | {parameter['parameterName']} | {shown} | {source} |")
    return lines
