// A libnvidia-ml with two GPUs. FAKE_NVML lists the calls that fail, with commas: "init"; "handle:1",
// "uuid:0", "name:0", "minor:0", "memory:1", "events:0": the call for that GPU. "ecc:1": it has memory
// errors. "xid79:0": it reports that error once. "mig:1": MIG is enabled, with one device; "mig:0": with
// none.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>

namespace {

struct Gpu {
  const char* name;
  const char* uuid;
  unsigned minor;
  unsigned long long memory;
  bool has_reported = false;
};
struct Event {
  Gpu* device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};
Gpu gpus[] = {
    {"Tesla T4", "GPU-11111111-2222-3333-4444-555555555555", 1, 16ULL << 30},
    {"NVIDIA A100-SXM4-40GB", "GPU-66666666-7777-8888-9999-000000000000", 0, 40ULL << 30},
    {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "MIG-12345678-aaaa-bbbb-cccc-1234567890ab", 0, 5ULL << 30}};
constexpr int kMigDevice = 2;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

constexpr int kNotSupported = 3;
constexpr int kDriverNotLoaded = 9;
constexpr int kGpuIsLost = 15;

bool Fails(std::string_view what) {
  const char* wrong = std::getenv("FAKE_NVML");
  const std::string calls = "," + std::string(wrong != nullptr ? wrong : "") + ",";
  return calls.find("," + std::string(what) + ",") != std::string::npos;
}

bool Fails(std::string_view call, const Gpu* gpu) {
  return Fails(std::string(call) + ":" + std::to_string(gpu - gpus));
}

int Copy(const char* text, char* out, unsigned size) {
  if (std::strlen(text) >= size) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
  std::strcpy(out, text);
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return Fails("init") ? kDriverNotLoaded : 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int code) {
  if (code == kGpuIsLost) return "GPU is lost";
  return code == kDriverNotLoaded ? "Driver Not Loaded" : "Not Supported";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Gpu** device) {
  if (index >= 2) return 2;  // NVML_ERROR_INVALID_ARGUMENT
  *device = &gpus[index];
  return Fails("handle", *device) ? kGpuIsLost : 0;
}
int nvmlDeviceGetName(Gpu* device, char* name, unsigned size) {
  return Fails("name", device) ? kGpuIsLost : Copy(device->name, name, size);
}
int nvmlDeviceGetUUID(Gpu* device, char* uuid, unsigned size) {
  return Fails("uuid", device) ? kNotSupported : Copy(device->uuid, uuid, size);
}
int nvmlDeviceGetMinorNumber(Gpu* device, unsigned* minor) {
  *minor = device->minor;
  return Fails("minor", device) ? kNotSupported : 0;
}
int nvmlDeviceGetMemoryInfo(Gpu* device, Memory* memory) {
  *memory = {device->memory, device->memory / 4 * 3, device->memory / 4};
  return Fails("memory", device) ? kGpuIsLost : 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, Gpu** device) {
  for (Gpu& gpu : gpus) {
    *device = &gpu;
    if (std::strcmp(gpu.uuid, uuid) == 0) return 0;
  }
  return 6;  // NVML_ERROR_NOT_FOUND
}
int nvmlDeviceGetUtilizationRates(Gpu*, Utilization* utilization) {
  *utilization = {25, 10};
  return 0;
}
int nvmlDeviceGetTotalEccErrors(Gpu* device, int type, int counter, unsigned long long* errors) {
  if (type != 1 || counter != 0) return kNotSupported;
  *errors = Fails("ecc", device) ? 2 : 0;
  return 0;
}
int nvmlEventSetCreate(std::set<Gpu*>** set) {
  *set = new std::set<Gpu*>();
  return 0;
}
int nvmlEventSetFree(std::set<Gpu*>* set) {
  delete set;
  return 0;
}
int nvmlDeviceRegisterEvents(Gpu* device, unsigned long long types, std::set<Gpu*>* set) {
  if (types != 8 || Fails("events", device)) return kNotSupported;
  set->insert(device);
  return 0;
}
int nvmlEventSetWait_v2(const std::set<Gpu*>* set, Event* event, unsigned) {
  for (Gpu* gpu : *set) {
    const bool is_new = Fails("xid79", gpu) && !gpu->has_reported;
    gpu->has_reported = Fails("xid79", gpu);
    if (!is_new) continue;
    *event = {gpu, 8, 79, 0, 0};
    return 0;
  }
  return 10;  // NVML_ERROR_TIMEOUT
}
int nvmlDeviceGetMigMode(Gpu* device, unsigned* now, unsigned* after_reset) {
  *now = *after_reset = Fails("mig", device) ? 1 : 0;
  return device == &gpus[1] || Fails("mig", device) ? 0 : kNotSupported;
}
int nvmlDeviceGetMaxMigDeviceCount(Gpu*, unsigned* count) {
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Gpu* device, unsigned index, Gpu** part) {
  *part = &gpus[kMigDevice];
  return device == &gpus[1] && index == 3 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}
int nvmlDeviceGetGpuInstanceId(Gpu*, unsigned* id) {
  *id = 7;
  return 0;
}
int nvmlDeviceGetComputeInstanceId(Gpu*, unsigned* id) {
  *id = 0;
  return 0;
}
}
