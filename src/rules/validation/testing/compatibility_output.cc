#include "rules/validation/testing/compatibility.h"

namespace trainyard::jobs {
namespace {

using enum FieldTreatment;

constexpr std::string_view kApi = "API description";
constexpr std::string_view kPricing = "pricing page";
constexpr std::string_view kAlgorithms = "\"built-in algorithms\"";

constexpr FieldRow kRows[] = {
    {"TrainingOutput.completedTrialCount", kOutput, "Trials that succeeded.", "", kApi},
    {"TrainingOutput.trials", kOutput,
     "All trials, best first; in jobs.list the best one only of jobs with more than 100.", "", kApi},
    {"TrainingOutput.consumedMLUnits", kOutput,
     "What the original would have charged: units of the machines times hours from startTime to endTime, "
     "at least 0.01.",
     "", kPricing},
    {"TrainingOutput.isHyperparameterTuningJob", kOutput, "From the creation on.", "", kApi},
    {"TrainingOutput.isBuiltInAlgorithmJob", kOutput,
     "For the images gcr.io/cloud-ml-algos/*, from the creation on.", "", kAlgorithms},
    {"TrainingOutput.builtInAlgorithmOutput", kOutput, "With isBuiltInAlgorithmJob, from the creation on.",
     "", kAlgorithms},
    {"TrainingOutput.hyperparameterMetricTag", kOutput, "The tag in use; tuning jobs only.", "", kApi},
    {"TrainingOutput.webAccessUris", kOutput, "The shells of the running replicas; with enableWebAccess.", "",
     kApi},

    {"HyperparameterOutput.trialId", kOutput, "\"1\", \"2\", ... in the order of creation.", "", kApi},
    {"HyperparameterOutput.hyperparameters", kOutput, "The very texts that the program got as arguments.", "",
     kApi},
    {"HyperparameterOutput.finalMetric", kOutput, "Absent when the trial failed or reported none.", "", kApi},
    {"HyperparameterOutput.allMetrics", kOutput, "Not set, as documented.", "", kApi},
    {"HyperparameterOutput.isTrialStoppedEarly", kOutput, "With enableTrialEarlyStopping.", "", kApi},
    {"HyperparameterOutput.startTime", kOutput, "As of a job.", "", kApi},
    {"HyperparameterOutput.endTime", kOutput, "As of a job.", "", kApi},
    {"HyperparameterOutput.state", kOutput, "As of a job.", "", kApi},
    {"HyperparameterOutput.builtInAlgorithmOutput", kOutput, "As of a job, per trial.", "", kAlgorithms},
    {"HyperparameterOutput.webAccessUris", kOutput, "As of a job, per trial.", "", kApi},

    {"HyperparameterMetric.objectiveValue", kOutput, "As the program reported it.", "", kApi},
    {"HyperparameterMetric.trainingStep", kOutput, "As the program reported it.", "", kApi},

    {"BuiltInAlgorithmOutput.framework", kOutput, "TENSORFLOW or XGBOOST.", "", kAlgorithms},
    {"BuiltInAlgorithmOutput.modelPath", kOutput,
     "Where the model is: jobDir/model/, of a trial jobDir/TRIAL/model/. Only of jobs without tuning and of "
     "trials, once they succeeded.",
     "", kAlgorithms},
    {"BuiltInAlgorithmOutput.pythonVersion", kOutput, "What trained the model here: 3.11.", "", kAlgorithms},
    {"BuiltInAlgorithmOutput.runtimeVersion", kOutput,
     "The runtime version whose TensorFlow or XGBoost trained the model, and loads it: "
     "2.15.",
     "", kAlgorithms},
};

}  // namespace

std::span<const FieldRow> OutputRows() { return kRows; }

}  // namespace trainyard::jobs
