#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What projects.getConfig tells of a project. Here a project is only a name, so its number and its accounts
/// are derived from that: the same on every machine and after every restart. Pure: any thread.
namespace trainyard::cluster {

/// Twelve digits; a project id that is a number already is its own.
[[nodiscard]] std::int64_t ProjectNumber(std::string_view project);

/// "service-NUMBER@cloud-ml.google.com.iam.gserviceaccount.com": the account that the service managed for the
/// project. Source: spec environment.md section 9.
[[nodiscard]] std::string ServiceAccount(std::string_view project);

/// "service-NUMBER@cloud-tpu.iam.gserviceaccount.com". Source: the public page "using TPUs to train your
/// model", step 1.
[[nodiscard]] std::string TpuServiceAccount(std::string_view project);

}  // namespace trainyard::cluster
