#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rules/cluster/project_number.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The virtual machine that Google would run the replica on, in the terms of Google's metadata server and TPU
/// API: the replica's data here, in that form.
struct Instance {
  /// The TPU that the replica's program uses.
  struct Tpu {
    std::string node_name;         ///< as in TPU_CONFIG
    std::string accelerator_type;  ///< "v2-8"
    friend bool operator==(const Tpu&, const Tpu&) = default;
  };

  std::string project;
  std::int64_t project_number = 0;
  std::string service_account;  ///< the account as which its programs make requests
  std::string account_id;       ///< JobRecord.service_account_id
  std::string zone;             ///< cluster::ZoneOf the job's region
  std::string name;             ///< the replica's host name
  std::uint64_t id = 0;         ///< the same for all attempts of a replica; below 2^63, as clients expect
  std::string machine_type;     ///< the one that the job asks for
  std::string address;          ///< numeric; empty: not known yet
  std::string runtime_version;  ///< empty: it runs a container image
  std::optional<Tpu> tpu{};     ///< absent: it was granted no TPU
  friend bool operator==(const Instance&, const Instance&) = default;
};

/// The account as which the job's programs make requests: the one that it names, otherwise its project's.
/// Pure.
[[nodiscard]] std::string ServiceAccountOf(const v1::JobRecord& job, const cluster::NumberOf& number_of);

/// Pure: any thread. Source: spec environment.md sections 4 and 11.
[[nodiscard]] Instance InstanceOf(const v1::JobRecord& job, int replica, const cluster::NumberOf& number_of);

}  // namespace trainyard::control
