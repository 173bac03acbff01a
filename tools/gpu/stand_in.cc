// A libcuda and an NVML with one GPU, for machines without one: tools/gpu_check.sh --stand-in is tried with it.
//
// An allocation is a locked file in STATE (a macro); NVML counts those whose lock is held, so that memory is
// free when the process that allocated it is dead, as with a real driver. Where STATE cannot be written (in a
// container) the process counts its own allocations only.

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr unsigned long long kTotal = 16ULL << 30;
constexpr const char* kUuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
constexpr int kNoDevice = 100;
constexpr int kOutOfMemory = 2;
constexpr int kGpuIsLost = 15;

unsigned long long own_bytes = 0;

/// Bytes of all allocations whose process lives.
unsigned long long UsedBytes() {
  DIR* folder = opendir(STATE);
  if (folder == nullptr) return own_bytes;
  unsigned long long used = 0;
  while (const dirent* entry = readdir(folder)) {
    const std::string path = std::string(STATE) + "/" + entry->d_name;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info{};
    if (file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) && flock(file, LOCK_SH | LOCK_NB) != 0)
      used += static_cast<unsigned long long>(info.st_size);
    if (file >= 0) close(file);
  }
  closedir(folder);
  return used;
}

/// The file stays open, and so locked, until the process is dead.
void Hold(unsigned long long size) {
  own_bytes += size;
  std::string path = std::string(STATE) + "/XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0 && (flock(file, LOCK_EX) != 0 || ftruncate(file, static_cast<off_t>(size)) != 0)) close(file);
}

/// STATE.trouble says that the GPU is lost.
bool IsLost() { return access(STATE ".trouble", F_OK) == 0; }

bool Visible() {
  const char* devices = std::getenv("CUDA_VISIBLE_DEVICES");
  return devices == nullptr || std::strcmp(devices, "0") == 0 || std::strcmp(devices, kUuid) == 0;
}

unsigned char Nibble(char digit) {
  return static_cast<unsigned char>(digit >= 'a' ? digit - 'a' + 10 : digit - '0');
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return Visible() ? 0 : kNoDevice; }
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : kNoDevice;
}
int cuDeviceGetUuid(unsigned char* uuid, int) {
  int nibbles = 0;
  for (const char* digit = kUuid + 4; *digit != '\0'; ++digit) {
    if (*digit == '-') continue;
    unsigned char& byte = uuid[nibbles / 2];
    byte = static_cast<unsigned char>(nibbles++ % 2 == 0 ? Nibble(*digit) << 4 : byte | Nibble(*digit));
  }
  return 0;
}
int cuCtxCreate_v2(void** context, unsigned, int) {
  *context = nullptr;
  return 0;
}
int cuCtxSynchronize() { return usleep(1000); }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = kTotal;
  *free = kTotal - UsedBytes();
  return 0;
}
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t size) {
  if (size > kTotal - UsedBytes()) return kOutOfMemory;
  Hold(size);
  *pointer = 1;
  return 0;
}
int cuMemsetD8_v2(unsigned long long, unsigned char, std::size_t) { return 0; }

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int code) { return code == kGpuIsLost ? "GPU is lost" : "not found"; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = device;
  if (IsLost()) return kGpuIsLost;
  return index == 0 ? 0 : 6;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = device;
  return std::strcmp(uuid, kUuid) == 0 ? 0 : 6;
}
int nvmlDeviceGetName(void*, char* name, unsigned) {
  std::strcpy(name, "NVIDIA Stand-In");
  return 0;
}
int nvmlDeviceGetUUID(void*, char* uuid, unsigned) {
  std::strcpy(uuid, kUuid);
  return 0;
}
int nvmlDeviceGetMinorNumber(void*, unsigned* minor) {
  *minor = 0;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  const unsigned long long used = UsedBytes();
  *memory = {kTotal, kTotal - used, used};
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  *utilization = {UsedBytes() > 0 ? 90U : 0U, 0};
  return 0;
}
}
