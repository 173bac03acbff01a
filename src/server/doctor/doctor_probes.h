#pragma once

#include <string>

#include "rules/service/doctor_rules.h"

namespace trainyard::server {

/// Where to look.
struct DoctorPlaces {
  std::string data_dir;        ///< absolute; need not be there
  std::string server_url;      ///< of the server that has it; empty: none
  std::string limits_lacking;  ///< as that server found it; only looked at here if there is none
};

/// Tries out what a server on this machine would need, and leaves nothing behind. Blocking, up to some
/// seconds; in a process of its own, before it has threads: the tries fork, and one moves it to another
/// cgroup.
[[nodiscard]] service::DoctorFacts LookAtMachine(const DoctorPlaces& places);

}  // namespace trainyard::server
