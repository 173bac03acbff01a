#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What projects.getConfig returns. Here a project is only a name, so its number and its accounts are derived
/// from the name: the same on every machine and after every restart. Pure: any thread.
namespace trainyard::cluster {

/// Twelve digits. If the project id is a number, that number.
[[nodiscard]] std::int64_t ProjectNumber(std::string_view project);

/// "service-NUMBER@cloud-ml.google.com.iam.gserviceaccount.com": the account that the service managed for the
/// project. Source: spec environment.md section 9.
[[nodiscard]] std::string ServiceAccount(std::string_view project);

/// "service-NUMBER@cloud-tpu.iam.gserviceaccount.com". Source: the public page "using TPUs to train your
/// model", step 1.
[[nodiscard]] std::string TpuServiceAccount(std::string_view project);

}  // namespace trainyard::cluster
