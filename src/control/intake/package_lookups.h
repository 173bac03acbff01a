#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>

#include "base/result.h"
#include "control/accounts.h"
#include "control/intake/creator.h"
#include "rules/cluster/project_number.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The parts of the server that look-ups of packages use. All outlive the look-ups.
struct PackageSources {
  storage::Buckets& buckets;
  const Accounts& accounts;
  const cluster::NumberOf& number_of;
};

/// Fills in the packages of the record: those of the job, then those of each role that has its own and
/// replicas that can run them. A package is fixed when the job is created: its checksum names the layer into
/// which it is installed. Errors, with the field that names the package ("worker_config.package_uris"):
/// kFailedPrecondition if it does not exist or the job's service account may not read it; the refusal of
/// `creator`. `record` and `creator` outlive the call. Loop thread.
/// @param found  gets each look-up's result; an error from it ends the look-ups
boost::asio::awaitable<Status> LookUpPackages(PackageSources sources, v1::JobRecord& record,
                                              const Creator& creator, std::function<Status(Status)> found);

}  // namespace trainyard::control
