#include "rules/diagnosis/rule.h"

namespace trainyard::diagnosis {
namespace {

bool HasNoAccelerator(const Symptoms& seen) { return seen.accelerators == 0; }

template <Tpu kTpu>
bool HasTpu(const Symptoms& seen) {
  return seen.tpu == kTpu;
}

/// What TensorFlow says if it finds no TPU. The first: of its resolver, for want of a name.
constexpr decltype(Rule::patterns) kNoTpu{"Please provide a TPU Name to connect to",
                                          "TPUs not found in the cluster",
                                          "Could not lookup TPU metadata from name",
                                          "No task with index 0 in job 'worker'",
                                          "No task with index 0 in job \"worker\"",
                                          "Missing runtime dependency on the Google API client",
                                          "must be installed before using the TPU cluster resolver",
                                          "TPU_SYSTEM"};

constexpr std::array kRules{
    Rule{.name = "gpu_out_of_memory",
         .meaning = "the GPU ran out of memory",
         .summary = "The GPU ran out of memory: {line}.",
         .advice =
             "Use a smaller batch or model, mixed precision, or a GPU with more memory; make sure that one "
             "process per GPU runs.",
         .patterns = {"CUDA out of memory", "CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED",
                      "OOM when allocating tensor*GPU", "CUDA error: out of memory",
                      "cudaErrorMemoryAllocation"}},
    Rule{.name = "gpu_driver_mismatch",
         .meaning = "the GPU driver is too old for the program's CUDA",
         .summary = "The GPU driver does not match the program's CUDA version: {line}.",
         .advice =
             "Update the driver of the machine, or use a runtime version that is built for its CUDA version.",
         .patterns = {"CUDA driver version is insufficient", "driver on your system is too old",
                      "forward compatibility was attempted", "SYSTEM_DRIVER_MISMATCH",
                      "no kernel image is available", "Driver/library version mismatch"}},
    Rule{
        .name = "gpu_not_requested",
        .meaning = "the program needs a GPU, and the job requested none",
        .summary = "The program needs a GPU, but the job requested none: {line}.",
        .advice = "Request a GPU (scaleTier BASIC_GPU, or masterConfig.acceleratorConfig), or run the "
                  "program without one.",
        .run_advice = "Run it with 'trainyard run --gpus 1', or change the program so that it needs none.",
        .patterns = {"no CUDA-capable device", "No CUDA GPUs are available", "Found no NVIDIA driver",
                     "CUDA_ERROR_NO_DEVICE", "not compiled with CUDA enabled", "device:GPU:0 unknown device",
                     "Could not satisfy*/device:GPU", "is_available() is False", "CUDA_ERROR_NOT_INITIALIZED",
                     "No GPU found", "No GPU is available", "libcuda.so.1: cannot open shared object file"},
        .applies = HasNoAccelerator},
    Rule{
        .name = "gpu_not_found",
        .meaning = "the replica was given a GPU and the program does not see it",
        .summary = "The program does not find the GPU that the replica was given: {line}.",
        .advice =
            "Check that the runtime version's framework is built for CUDA and that nvidia-smi works on the "
            "machine.",
        .patterns = {"no CUDA-capable device", "No CUDA GPUs are available", "Found no NVIDIA driver",
                     "CUDA_ERROR_NO_DEVICE", "not compiled with CUDA enabled", "device:GPU:0 unknown device",
                     "Could not satisfy*/device:GPU", "is_available() is False", "CUDA_ERROR_NOT_INITIALIZED",
                     "No GPU found", "No GPU is available", "libcuda.so.1: cannot open shared object file"}},
    Rule{
        .name = "tpu_not_requested",
        .meaning = "the program needs a TPU, and the job requested none",
        .summary = "The program needs a TPU, but the job requested none: {line}.",
        .advice =
            "Request a TPU (scaleTier BASIC_TPU, or the worker type cloud_tpu), or run the program "
            "without one: use tf.distribute.get_strategy() in the place of TPUStrategy, and remove the lines "
            "with TPUClusterResolver and initialize_tpu_system.",
        .patterns = {"Please provide a TPU Name to connect to"},
        .applies = HasTpu<Tpu::kNotRequested>},
    Rule{.name = "tpu_waived",
         .meaning = "the job requested a TPU, and the operator's table (--accelerator-map) gives it none",
         .summary =
             "The program needs the TPU that the job requested, but this server runs such jobs without one "
             "(--accelerator-map): {line}.",
         .advice =
             "Start the server with --accelerator-map TYPE=cpu (tpu-v2=cpu): the program then trains on the "
             "CPU, unchanged. Or change the program: use tf.distribute.get_strategy() in the place of "
             "TPUStrategy, and remove the lines with TPUClusterResolver, experimental_connect_to_cluster and "
             "initialize_tpu_system.",
         .patterns = kNoTpu,
         .applies = HasTpu<Tpu::kWaived>},
    Rule{.name = "tpu_not_found",
         .meaning = "the program does not find its TPU, or no TensorFlow for TPUs",
         .summary = "The program does not find its TPU: {line}.",
         .advice = "The server puts the CPU in the TPU's place (--accelerator-map), for TensorFlow's "
                   "TPUClusterResolver, initialize_tpu_system and TPUStrategy only: change what else the "
                   "program asks "
                   "of a TPU, or run it on a machine that has one.",
         .patterns = kNoTpu,
         .applies = HasTpu<Tpu::kReplaced>},
    Rule{.name = "tpu_not_found",
         .meaning = "the program does not find its TPU, or no TensorFlow for TPUs",
         .summary = "The program does not find its TPU: {line}.",
         .advice =
             "The server declares this TPU (--accelerators), but gives the replica no device file of one. "
             "On a machine without a TPU, start the server with --accelerator-map TYPE=cpu (tpu-v2=cpu) and "
             "without the declaration: the program then trains on the CPU, unchanged.",
         .patterns = kNoTpu,
         .applies = HasTpu<Tpu::kDeclared>},
    Rule{.name = "tpu_not_found",
         .meaning = "the program does not find its TPU, or no TensorFlow for TPUs",
         .summary = "The program does not find its TPU: {line}.",
         .advice =
             "The TPU is this machine's own and has no network endpoint: name it 'local', as in "
             "TPUClusterResolver('local'), and use a runtime version whose TensorFlow is built for TPUs "
             "(2.20-tpu).",
         .patterns = kNoTpu},
    Rule{.name = "nccl_error",
         .meaning = "GPUs could not talk to each other",
         .summary = "The communication between GPUs failed: {line}.",
         .advice = "Set NCCL_DEBUG=INFO to see why; a replica that ended causes this error, too: look at the "
                   "other replicas' last lines.",
         .patterns = {"NCCL error", "ncclSystemError", "ncclInternalError", "ncclUnhandledCudaError",
                      "ncclRemoteError", "NCCL operation", "ProcessGroupNCCL"}},
    Rule{.name = "gpu_error",
         .meaning = "any other CUDA error",
         .summary = "A GPU operation failed: {line}.",
         .advice = "Set CUDA_LAUNCH_BLOCKING=1 to see where; an index out of range in the data is the usual "
                   "cause of "
                   "a device-side assert.",
         .patterns = {"CUDA error:", "CUDA_ERROR_", "CUDNN_STATUS_", "CUBLAS_STATUS_", "device-side assert",
                      "CUDA runtime error", "cudaError"}},
};

}  // namespace

std::span<const Rule> AcceleratorRules() { return kRules; }

}  // namespace trainyard::diagnosis
