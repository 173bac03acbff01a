#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "control/collaborators.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The values of a job's secrets, which are in no record: from the store of secrets into a manifest, and away
/// when the job ends. A trial has those of its tuning job. Loop thread only.
namespace trainyard::control {

/// Under which name the secrets of a job that is being created are staged: no other job, and no other create
/// of this one, has it. Pure.
[[nodiscard]] std::string StagedName(const v1::JobRecord& job);

/// Nothing: the manifest has them. Else how the attempt ends instead: it names the secret that is not there.
[[nodiscard]] boost::asio::awaitable<std::optional<replica::v1::ExitRecord>> CompleteSecrets(
    Collaborators& outside, const v1::JobRecord& job, replica::v1::Manifest& manifest);

/// Before the job's end is recorded (a trial's is not the end of its secrets): nothing of it can start any
/// more. What cannot be removed, the next start of the server removes.
[[nodiscard]] boost::asio::awaitable<void> ForgetSecrets(Collaborators& outside, const v1::JobRecord& job);

}  // namespace trainyard::control
