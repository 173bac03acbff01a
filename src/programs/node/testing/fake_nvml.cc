// A libnvidia-ml with two GPUs. FAKE_NVML says what goes wrong: "init" or "gpu".

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

struct Gpu {
  const char* name;
  const char* uuid;
  unsigned minor;
  unsigned long long memory;
};
Gpu gpus[] = {{"Tesla T4", "GPU-11111111-2222-3333-4444-555555555555", 1, 16ULL << 30},
              {"NVIDIA A100-SXM4-40GB", "GPU-66666666-7777-8888-9999-000000000000", 0, 40ULL << 30}};

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

bool Fails(std::string_view what) {
  const char* wrong = std::getenv("FAKE_NVML");
  return wrong != nullptr && wrong == what;
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
  return code == kDriverNotLoaded ? "Driver Not Loaded" : "Not Supported";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Gpu** device) {
  if (index >= 2) return 2;  // NVML_ERROR_INVALID_ARGUMENT
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetName(Gpu* device, char* name, unsigned size) { return Copy(device->name, name, size); }
int nvmlDeviceGetUUID(Gpu* device, char* uuid, unsigned size) {
  return Fails("gpu") ? kNotSupported : Copy(device->uuid, uuid, size);
}
int nvmlDeviceGetMinorNumber(Gpu* device, unsigned* minor) {
  *minor = device->minor;
  return 0;
}
int nvmlDeviceGetMemoryInfo(Gpu* device, Memory* memory) {
  *memory = {device->memory, device->memory / 4 * 3, device->memory / 4};
  return 0;
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
}
