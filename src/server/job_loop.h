#pragma once

#include <memory>

#include "control/curves/job_curves.h"
#include "control/job_service.h"
#include "control/run/token_service.h"
#include "control/upkeep/use_keeper.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/python_probe.h"
#include "server/engines.h"
#include "server/foundation.h"
#include "server/stores.h"
#include "stores/store/journal.h"

namespace trainyard::server {

/// The jobs of a server, built on its stores and engines: the parts that create jobs, run them, and draw
/// their curves. Loop thread only.
struct JobLoop {
  /// All outlive it.
  JobLoop(Foundation& base, Stores& kept, Engines& places, environment::Catalogue read);
  JobLoop(const JobLoop&) = delete;
  JobLoop& operator=(const JobLoop&) = delete;

  Stores& stores;
  Engines& engines;
  std::shared_ptr<environment::PythonInventory> pythons;  ///< shared with tasks on pools
  environment::Catalogue catalogue;
  store::Journal journal;
  control::UseKeeper use_keeper;
  control::JobMaker maker;
  control::JobService jobs;
  curves::JobCurves curves;
  control::TokenService tokens;
};

}  // namespace trainyard::server
