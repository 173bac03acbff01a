#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rules/slurm/batch_script.h"

/// slurmrestd's requests, and all that differs between the versions of its interface; its answers are read by
/// rest_answers.h, in whatever form they come. Pure: any thread. docs/slurm.md, "Versions".
namespace trainyard::slurm {

/// Of Slurm 22.05, 23.02, 23.11, 24.05 and 24.11. A slurmrestd offers those of some releases before its own.
enum class RestVersion { k38 = 38, k39 = 39, k40 = 40, k41 = 41, k42 = 42 };
/// The best one first.
inline constexpr std::array kRestVersions{RestVersion::k42, RestVersion::k41, RestVersion::k40,
                                          RestVersion::k39, RestVersion::k38};

/// The target of a request: "jobs" is "/slurm/v0.0.42/jobs". Of an interface that is not offered it is
/// answered with 404.
[[nodiscard]] std::string RestTarget(RestVersion version, std::string_view what);
[[nodiscard]] std::string RestJobTarget(RestVersion version, std::int64_t id);

/// The body of a POST to "job/submit": what BatchScript says to sbatch. The request has no lack, and its
/// options no lines, which nothing can say here.
[[nodiscard]] std::string RestSubmission(const BatchJob& batch, const GangRequest& request,
                                         RestVersion version);

}  // namespace trainyard::slurm
