#include "rules/validation/testing/compatibility.h"

namespace trainyard::jobs {
namespace {

using enum FieldTreatment;

constexpr std::string_view kApi = "API description";
constexpr std::string_view kOwn = "adr/0101";
constexpr std::string_view kPricing = "pricing page";
constexpr std::string_view kAlgorithms = "\"built-in algorithms\"";

constexpr FieldRow kRows[] = {
    {"TrainingOutput.completedTrialCount", kOutput, "Trials that succeeded.", "", kApi},
    {"TrainingOutput.trials", kOutput,
     "All trials, best first; if a job has more than 100, jobs.list returns only the best one.", "", kApi},
    {"TrainingOutput.consumedMLUnits", kOutput,
     "The units that the original would have charged: units of the machines times hours from startTime to "
     "endTime, at least 0.01.",
     "", kPricing},
    {"TrainingOutput.isHyperparameterTuningJob", kOutput, "Set from the creation on.", "", kApi},
    {"TrainingOutput.isBuiltInAlgorithmJob", kOutput,
     "True for the images gcr.io/cloud-ml-algos/*, from the creation on.", "", kAlgorithms},
    {"TrainingOutput.builtInAlgorithmOutput", kOutput,
     "Set together with isBuiltInAlgorithmJob, from the creation on.", "", kAlgorithms},
    {"TrainingOutput.hyperparameterMetricTag", kOutput, "The tag in use; tuning jobs only.", "", kApi},
    {"TrainingOutput.webAccessUris", kOutput,
     "The shells of the running replicas, if enableWebAccess is set.", "", kApi},

    {"HyperparameterOutput.trialId", kOutput, "\"1\", \"2\", ... in the order of creation.", "", kApi},
    {"HyperparameterOutput.hyperparameters", kOutput,
     "The values exactly as the program got them in its arguments.", "", kApi},
    {"HyperparameterOutput.finalMetric", kOutput,
     "Absent if the trial failed, reported no metric, or did not report all of several metrics.", "", kApi},
    {"HyperparameterOutput.allMetrics", kOutput, "Not set, as documented.", "", kApi},
    {"HyperparameterOutput.isTrialStoppedEarly", kOutput, "Set with enableTrialEarlyStopping.", "", kApi},
    {"HyperparameterOutput.startTime", kOutput, "As for a job.", "", kApi},
    {"HyperparameterOutput.endTime", kOutput, "As for a job.", "", kApi},
    {"HyperparameterOutput.state", kOutput, "As for a job.", "", kApi},
    {"HyperparameterOutput.builtInAlgorithmOutput", kOutput, "As for a job, per trial.", "", kAlgorithms},
    {"HyperparameterOutput.webAccessUris", kOutput, "As for a job, per trial.", "", kApi},

    {"HyperparameterMetric.objectiveValue", kOutput, "As the program reported it.", "", kApi},
    {"HyperparameterMetric.trainingStep", kOutput, "As the program reported it.", "", kApi},
    {"HyperparameterMetric.furtherValues", kOutput,
     "The values of furtherMetrics, by tag. Trainyard's own: the original has no such field.", "", kOwn},

    {"BuiltInAlgorithmOutput.framework", kOutput, "TENSORFLOW or XGBOOST.", "", kAlgorithms},
    {"BuiltInAlgorithmOutput.modelPath", kOutput,
     "Where the model is: jobDir/model/, for a trial jobDir/TRIAL/model/. Only for jobs without tuning and "
     "for trials, once they have succeeded.",
     "", kAlgorithms},
    {"BuiltInAlgorithmOutput.pythonVersion", kOutput, "The Python that trained the model here: 3.11.", "",
     kAlgorithms},
    {"BuiltInAlgorithmOutput.runtimeVersion", kOutput,
     "The runtime version whose TensorFlow or XGBoost trained the model and can load it: 2.15.", "",
     kAlgorithms},
};

}  // namespace

std::span<const FieldRow> OutputRows() { return kRows; }

}  // namespace trainyard::jobs
