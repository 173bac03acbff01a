#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/slurm/batch_script.h"

/// Requests to slurmrestd, and everything that depends on the version of its interface; rest_answers.h reads
/// the responses of all versions. Pure: any thread. docs/slurm.md, "Versions".
namespace trainyard::slurm {

/// The interface versions of Slurm 22.05, 23.02, 23.11, 24.05 and 24.11. A slurmrestd also offers those of
/// some earlier releases.
enum class RestVersion { k38 = 38, k39 = 39, k40 = 40, k41 = 41, k42 = 42 };
/// All versions, the preferred one first.
inline constexpr std::array kRestVersions{RestVersion::k42, RestVersion::k41, RestVersion::k40,
                                          RestVersion::k39, RestVersion::k38};

/// The target of a request: "jobs" is "/slurm/v0.0.42/jobs". The response is 404 if the version is not
/// offered.
[[nodiscard]] std::string RestTarget(RestVersion version, std::string_view what);
[[nodiscard]] std::string RestJobTarget(RestVersion version, std::int64_t id);

/// The body of a POST to "job/submit": the same job as BatchScript. `request.lack` must be empty, and its
/// options must have no `lines`, which cannot be expressed here.
[[nodiscard]] std::string RestSubmission(const BatchJob& batch, const GangRequest& request,
                                         RestVersion version);

}  // namespace trainyard::slurm
