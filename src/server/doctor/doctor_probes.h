#pragma once

#include <string>

#include "rules/service/doctor_rules.h"

namespace trainyard::server {

/// What the probes look at.
struct DoctorPlaces {
  std::string data_dir;        ///< absolute; need not exist
  std::string server_url;      ///< of the server that uses it; empty: none
  std::string limits_lacking;  ///< as that server found it; determined here only if there is no server
};

/// Tries out what a server on this machine would need, and leaves nothing behind. Blocks for up to some
/// seconds. Call it in a separate process, before it has threads: the probes fork, and one moves the process
/// to another cgroup.
[[nodiscard]] service::DoctorFacts LookAtMachine(const DoctorPlaces& places);

}  // namespace trainyard::server
