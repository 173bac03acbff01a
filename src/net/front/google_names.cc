#include "net/front/google_names.h"

#include "base/ascii.h"

namespace trainyard::front {

Service ServiceOf(std::string_view host) noexcept {
  host = host.substr(0, host.rfind(':'));
  if (EqualsIgnoringCase(host, kStorageHost)) return Service::kStorage;
  for (const std::string_view api :
       {std::string_view("www.googleapis.com"), std::string_view("ml.googleapis.com"),
        std::string_view("logging.googleapis.com"), kStudiesHost, kTpuHost}) {
    if (EqualsIgnoringCase(host, api)) return Service::kApi;
  }
  return Service::kMetadata;
}

}  // namespace trainyard::front
