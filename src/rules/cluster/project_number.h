#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// What projects.getConfig returns. A project is only a name here. Its number is given out once and kept
/// (identity::Identities::NumberOf), and the names of its accounts are made of the number. Pure: any thread.
namespace trainyard::cluster {

/// The number of a project.
using NumberOf = std::function<std::int64_t(std::string_view project)>;

/// What the number was while numbers were not kept: twelve digits of a hash; of a project whose id is a
/// number, that number. Anybody can find a name for a number, so it counts for projects from that time alone.
[[nodiscard]] std::int64_t HashedNumber(std::string_view project);

/// Twelve digits. @param bits  that nobody can foresee.
[[nodiscard]] std::int64_t NumberFrom(std::uint64_t bits);

/// "service-NUMBER@cloud-ml.google.com.iam.gserviceaccount.com": the account that the service managed for the
/// project. Source: spec environment.md section 9.
[[nodiscard]] std::string ServiceAccount(std::int64_t number);

/// "service-NUMBER@cloud-tpu.iam.gserviceaccount.com". Source: the public page "using TPUs to train your
/// model", step 1.
[[nodiscard]] std::string TpuServiceAccount(std::int64_t number);

/// The number in ServiceAccount() or TpuServiceAccount(); nothing: the e-mail is another one.
[[nodiscard]] std::optional<std::int64_t> NumberOfServiceAccount(std::string_view email);
[[nodiscard]] std::optional<std::int64_t> NumberOfTpuServiceAccount(std::string_view email);

}  // namespace trainyard::cluster
