#include "front/google_names.h"

#include "base/ascii.h"

namespace trainyard::front {

Service ServiceOf(std::string_view host) noexcept {
  host = host.substr(0, host.rfind(':'));
  if (EqualsIgnoringCase(host, kStorageHost)) return Service::kStorage;
  for (const std::string_view api : {"www.googleapis.com", "ml.googleapis.com", "logging.googleapis.com"}) {
    if (EqualsIgnoringCase(host, api)) return Service::kApi;
  }
  return Service::kMetadata;
}

}  // namespace trainyard::front
