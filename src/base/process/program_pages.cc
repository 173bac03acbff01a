#include "base/process/program_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

// The linker defines both: ld(1), end(3).
extern "C" char __executable_start;  // NOLINT(bugprone-reserved-identifier)
extern "C" char etext;

namespace trainyard {

void ReleaseProgramPages() noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(&__executable_start) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(&etext) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace trainyard
