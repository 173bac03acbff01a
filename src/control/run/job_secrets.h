#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "control/collaborators.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The values of a job's secrets, which are not in its record: copied from the secret store into a manifest,
/// and deleted when the job ends. A trial uses those of its tuning job. Loop thread only.
namespace trainyard::control {

/// The name under which the secrets of a job are staged while it is created: unique among all jobs and all
/// attempts to create this one. Pure.
[[nodiscard]] std::string StagedName(const v1::JobRecord& job);

/// Adds the secrets to the manifest. If one is missing, returns how the attempt ends instead, with that
/// secret's name.
[[nodiscard]] boost::asio::awaitable<std::optional<replica::v1::ExitRecord>> CompleteSecrets(
    Collaborators& outside, const v1::JobRecord& job, replica::v1::Manifest& manifest);

/// Whether the job has secrets that end with it.
[[nodiscard]] bool HasSecrets(const v1::JobRecord& job);

/// Call before the job's end is recorded, but after all events that lead to it (a trial's end does not
/// end its secrets): none of its replicas can start any more. What cannot be deleted now is deleted at the
/// next start of the server.
[[nodiscard]] boost::asio::awaitable<void> ForgetSecrets(Collaborators& outside, const v1::JobRecord& job);

}  // namespace trainyard::control
