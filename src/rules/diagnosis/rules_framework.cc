#include "rules/diagnosis/google_buckets.h"
#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

constexpr std::array kRules{
    Rule{.name = "gs_path_as_file",
         .meaning = "a gs:// path opened as a local file",
         .summary = "'gs:/{1}' is an object, but was opened as a local file.",
         .advice = "Open it with tf.io.gfile, gcsfs or google.cloud.storage, or as /gcs/BUCKET/OBJECT.",
         .patterns = {"No such file or directory: 'gs:/*'", "No such file or directory: b'gs:/*'"}},
    Rule{.name = "google_bucket",
         .meaning = "a public bucket of Google's, which is not on this server",
         .summary = "gs://{google_bucket} is a public bucket of Google's, and this server has none of that "
                    "name: {line}.",
         .advice =
             "If this machine reaches the internet, start the server with 'trainyard serve --real-bucket "
             "{google_bucket}'. Otherwise copy what the program reads under the same name: 'curl -O "
             "https://storage.googleapis.com/{google_bucket}/OBJECT', then 'trainyard storage cp FILE "
             "gs://{google_bucket}/OBJECT'.",
         .patterns = {"errors_impl.NotFoundError", "exceptions.NotFound",
                      "FileNotFoundError: ", "No such file or directory", "NoSuchBucket", "No URLs matched",
                      "bucket does not exist", "HTTP response code 404", "NotFoundException: 404",
                      "ould not find data in gs://", "returned non-zero exit status"},
         .applies = [](const Symptoms& seen) { return !GoogleBucketIn(seen).empty(); }},
    Rule{.name = "checkpoint_missing",
         .meaning = "no checkpoint where the program looked for one",
         .summary = "There is no checkpoint at '{1}'.",
         .advice = "Check the path (relative paths are lost at a restart: use --job-dir), and start without "
                   "a checkpoint if there is none yet.",
         .patterns = {"Failed to find any matching files for *", "No such checkpoint: *",
                      "No checkpoint found in *", "Could not find checkpoint or SavedModel at *",
                      "Couldn't find 'checkpoint' file*", "SavedModel file does not exist at: *"}},
    Rule{.name = "checkpoint_mismatch",
         .meaning = "a checkpoint of another model",
         .summary = "The checkpoint does not match the model: {line}.",
         .advice = "Use a fresh --job-dir, or build the model as it was when the checkpoint was written.",
         .patterns = {"Error(s) in loading state_dict", "size mismatch for *",
                      "Assign requires shapes of both tensors", "not found in checkpoint",
                      "Shapes of all inputs must match: values[0]", "could not be deserialized properly",
                      "Received incompatible tensor with shape*checkpoint"}},
    Rule{.name = "not_a_number",
         .meaning = "the loss or a tensor became NaN or infinite",
         .summary = "The training diverged: {line}.",
         .advice = "Lower the learning rate, clip gradients, and look for invalid values in the data.",
         .patterns = {"NaN loss during training", "NanLossDuringTraining", "loss is NaN", "loss is nan",
                      "Loss is NaN", "Tensor had NaN values", "Tensor had Inf", "Nan in summary histogram",
                      "Input contains NaN", "FloatingPointError", "NaN or Inf found"}},
    Rule{.name = "shape_mismatch",
         .meaning = "tensors whose shapes do not match",
         .summary = "Shapes do not match: {line}.",
         .advice = "Compare the data's shape with what the model's first layers expect.",
         .patterns = {"Incompatible shapes", "shapes cannot be multiplied", "cannot reshape",
                      "is incompatible with the layer", "must match the size of tensor",
                      "could not broadcast", "Shapes * and * are incompatible", "Matrix size-incompatible",
                      "Dimensions must be equal", "not aligned:"}},
    Rule{.name = "storage_not_found",
         .meaning = "an object or bucket that does not exist",
         .summary = "An object or bucket does not exist: {line}.",
         .advice =
             "Check the gs:// path in the arguments ('trainyard storage ls' shows what is there); "
             "buckets are created on first use, unless the server was started without that. A bucket of "
             "the real Cloud Storage is read with 'trainyard serve --real-bucket NAME'.",
         .patterns = {"NotFoundError: *gs://", "Error executing an HTTP request: HTTP response code 404",
                      "google.api_core.exceptions.NotFound", "No URLs matched", "FileNotFoundError: *gs://",
                      "The specified bucket does not exist", "NotFoundException: 404",
                      "CommandException: No URLs", "FileNotFoundError: b/", "The object * does not exist"}},
    Rule{.name = "storage_refused",
         .meaning = "the storage refused access",
         .summary = "Access to storage was refused: {line}.",
         .advice = "Check the bucket's owner and the program's credentials; inside a replica the default "
                   "credentials work for this server's buckets.",
         .patterns = {"PermissionDeniedError", "exceptions.Forbidden: 403", "HTTP response code 403",
                      "HTTP response code 401", "exceptions.Unauthorized", "DefaultCredentialsError",
                      "Anonymous caller does not have"}},
    Rule{.name = "protobuf_mismatch",
         .meaning = "the protobuf library does not match the generated code",
         .summary = "The protobuf library does not match the generated code: {line}.",
         .advice = "Pin protobuf in install_requires of setup.py to the version that the runtime version has "
                   "(protobuf<3.21 for old "
                   "generated code).",
         .patterns = {"Descriptors cannot be created directly", "Descriptors cannot not be created directly",
                      "Detected incompatible Protobuf", "Detected mismatched Protobuf",
                      "cannot import name 'builder' from 'google.protobuf",
                      "google.protobuf.message.DecodeError"}},
    Rule{.name = "binary_mismatch",
         .meaning = "compiled modules built for another numpy, Python, CUDA or C library",
         .summary = "A compiled module was built for other versions: {line}.",
         .advice = "Let pip choose matching versions (no --no-deps copies, no wheels of another Python); for "
                   "numpy pin "
                   "'numpy<2' or install the module again.",
         .patterns = {"numpy.dtype size changed", "numpy.ndarray size changed", "compiled using NumPy 1.x",
                      "numpy.core.multiarray failed to import", "undefined symbol: *", "version `GLIBC",
                      "version `GLIBCXX", "_ARRAY_API not found", "compiled against API version",
                      "Module compiled against ABI version", "has no attribute '_ARRAY_API'",
                      "bad magic number in"}},
    Rule{.name = "framework_version",
         .meaning = "a function that this version of a framework does not have (any more)",
         .summary = "The installed version of '{1}' has no '{2}'.",
         .advice = "Choose the runtime version that the program was written for, or pin the framework in "
                   "install_requires of setup.py.",
         .patterns = {"AttributeError: module '*' has no attribute '*'"}},
    Rule{.name = "framework_version",
         .summary = "The installed version of '{2}' has no '{1}'.",
         .advice = "Choose the runtime version that the program was written for, or pin the framework in "
                   "install_requires of setup.py.",
         .patterns = {"ImportError: cannot import name '*' from '*'"}},
    Rule{
        .name = "data_malformed",
        .meaning = "data that cannot be parsed",
        .summary = "Data cannot be read: {line}.",
        .advice =
            "Look at the file that was read last; a download or upload that was cut looks like this too.",
        .patterns = {"JSONDecodeError", "ParserError: Error tokenizing", "EmptyDataError", "corrupted record",
                     "BadZipFile", "BadGzipFile", "UnicodeDecodeError", "not a gzip file", "DataLossError",
                     "ArrowInvalid", "Unable to open file (file signature not found)", "XMLSyntaxError"}},
    Rule{.name = "pickle_error",
         .meaning = "an object that cannot be pickled or unpickled",
         .summary = "An object cannot be pickled or unpickled: {line}.",
         .advice =
             "Pass functions and classes of a module's top level to other processes; read a pickle with the "
             "versions that wrote it.",
         .patterns = {"PicklingError", "UnpicklingError", "Can't pickle", "cannot pickle",
                      "Can't get attribute", "pickle data was truncated", "invalid load key",
                      "unsupported pickle protocol", "Ran out of input"}},
    Rule{.name = "child_process_failed",
         .meaning = "a command that the program started failed",
         .summary = "A command that the program started failed: {1} ({2}).",
         .advice = "The command's error message is among the replica's last lines.",
         .patterns = {"CalledProcessError: Command '*' returned *",
                      "CalledProcessError: Command '*' died with *"}},
    Rule{.name = "child_process_failed",
         .summary = "A process that the program started failed: {line}.",
         .advice = "The process's error message is among the replica's last lines.",
         .patterns = {"ChildFailedError:*", "DataLoader worker (pid *) exited unexpectedly*",
                      "ProcessRaisedException:*", "ProcessExitedException:*", "BrokenProcessPool:*"}},
};

}  // namespace

std::span<const Rule> FrameworkRules() { return kRules; }

}  // namespace trainyard::diagnosis
