#include "cli/gcloud/local_time.h"

#include <chrono>
#include <ctime>

#include "wire/time.h"

namespace trainyard::cli {

std::string LocalTime(std::string_view rfc3339, const char* format) {
  Result<SysTime> time = wire::ParseTime(rfc3339);
  if (!time) return std::string(rfc3339);
  std::time_t seconds = std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

}  // namespace trainyard::cli
