#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// The values that projects.getConfig returns. A project is only a name here. Its number is assigned once and
/// stored (identity::Identities::NumberOf), and the names of its accounts contain the number. Pure: any
/// thread.
namespace trainyard::cluster {

/// Returns the number of a project.
using NumberOf = std::function<std::int64_t(std::string_view project)>;

/// The number from the time when numbers were not stored: twelve digits of a hash, or the id itself if the id
/// is a number. Anybody can find a project name for a given number, so it is only valid for projects from
/// that time.
[[nodiscard]] std::int64_t HashedNumber(std::string_view project);

/// A number of twelve digits. @param bits  unpredictable random bits.
[[nodiscard]] std::int64_t NumberFrom(std::uint64_t bits);

/// "service-NUMBER@cloud-ml.google.com.iam.gserviceaccount.com": the account that Google's service managed
/// for the project. Source: spec environment.md section 9.
[[nodiscard]] std::string ServiceAccount(std::int64_t number);

/// "service-NUMBER@cloud-tpu.iam.gserviceaccount.com". Source: the public page "using TPUs to train your
/// model", step 1.
[[nodiscard]] std::string TpuServiceAccount(std::int64_t number);

/// The number in an e-mail from ServiceAccount() or TpuServiceAccount(); nullopt for any other e-mail.
[[nodiscard]] std::optional<std::int64_t> NumberOfServiceAccount(std::string_view email);
[[nodiscard]] std::optional<std::int64_t> NumberOfTpuServiceAccount(std::string_view email);

}  // namespace trainyard::cluster
