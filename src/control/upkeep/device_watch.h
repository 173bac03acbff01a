#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "control/job_service.h"
#include "engine/local/local_engine.h"
#include "programs/node/device_looks.h"

namespace trainyard::control {

/// Looks at this machine's accelerators every kEvery: those in trouble are taken out of placement and put
/// back when they are healthy, and new ones are added. Each change is a line for the operator, and one in the
/// log of the job that has the device; the job goes on. Loop thread only. The driver is asked on a separate
/// thread: if it has not answered after kEvery, no accelerator has, and if it never does, the thread is
/// abandoned.
class DeviceWatch {
 public:
  static constexpr std::chrono::seconds kEvery{30};

  /// All outlive it.
  struct Dependencies {
    engine::LocalEngine& engine;
    const JobService& jobs;
    std::function<void(const placement::Device&)> on_new;  ///< the engine knows the device already
    bool are_declared = false;  ///< the operator has listed the accelerators: nothing is looked at
  };
  DeviceWatch(boost::asio::any_io_executor loop, Dependencies parts);

 private:
  boost::asio::awaitable<void> Run();
  void Take(const node::DeviceLooks::Look& look);
  void Say(const placement::DevicePool::Change& change) const;

  boost::asio::any_io_executor loop_;
  Dependencies parts_;
  std::vector<std::string> notes_;            ///< of the last look
  std::shared_ptr<node::DeviceLooks> looks_;  ///< shared with the thread that looks
  TaskGroup tasks_;
};

}  // namespace trainyard::control
