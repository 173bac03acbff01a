#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/local/keeper_starter.h"
#include "engine/local/local_attempt_host.h"
#include "engine/testing/attempt_host_conformance.h"
#include "engine/testing/keeper_process.h"
#include "engine/testing/loop.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::engine {

/// A local attempt host for tests; supervisors are the test's own program
/// (replica/supervisor/testing/supervisor_program.cc).
class LocalHostWorld : public replica::AttemptFixture {
 protected:
  /// `by_keeper`: a keeper, which is a separate process, starts supervisors.
  explicit LocalHostWorld(bool by_keeper = false) {
    if (by_keeper) keeper_.emplace(folder_.path());
    std::filesystem::remove(dir_.path);  // the host makes it
    settings_ = {.attempts_dir = folder_.path() + "/attempts",
                 .environments_dir = manifest_.places().environments_dir(),
                 .images_dir = {},
                 .attach_socket = manifest_.places().attach_socket(),
                 .replica_socket = manifest_.places().replica_socket(),
                 .container_runtime_address = {}};
    manifest_.set_attempt_id(kConformanceAttempt);
    dir_.path = settings_.attempts_dir + "/" + kConformanceAttempt;
    MakeHost({});
    ProgramUntilLetEnd();
  }
  ~LocalHostWorld() override {
    host_->SetOnGone(nullptr);
    if (std::filesystem::exists(dir_.path)) {
      EXPECT_TRUE(loop_.Run(host_->Kill(ref())).has_value());
      EXPECT_TRUE(loop_.Run(host_->Forget(ref())).has_value());
    }
  }
  void MakeHost(LocalAttemptHost::Options options) {
    host_.reset();
    starter_ = MakeStarter();
    if (keeper_ && options.supervisor_program == "/proc/self/exe") options.supervisor_program = OwnProgram();
    host_ = std::make_unique<LocalAttemptHost>(loop_.context.get_executor(), settings_, *starter_,
                                               std::move(options));
  }
  [[nodiscard]] std::unique_ptr<SupervisorStarter> MakeStarter() const {
    if (!keeper_) return std::make_unique<ForkingStarter>(MachineLimits());
    return std::make_unique<KeeperStarter>(keeper_->socket(), settings_.attempts_dir, MachineLimits(),
                                           check_);
  }
  [[nodiscard]] AttemptRef ref() const { return {.id = manifest_.attempt_id()}; }

  // For the conformance suite.
  Loop& loop() { return loop_; }
  AttemptHost& host() { return *host_; }
  static Slot slot() {
    Slot slot;
    slot.set_network(Manifest::HOST);
    slot.set_address("127.77.0.1");
    slot.set_port(20'001);
    slot.mutable_devices()->set_accelerator_type("NVIDIA_TESLA_T4");
    slot.mutable_devices()->add_gpus("0");
    return slot;
  }
  void Restart() { MakeHost({}); }

  Loop loop_;
  NodeSettings settings_;
  std::optional<KeeperProcess> keeper_;
  KeeperStarter::Check check_ = [](const MachineLimits&) { return Status(); };
  std::unique_ptr<SupervisorStarter> starter_;
  std::unique_ptr<LocalAttemptHost> host_;
};

}  // namespace trainyard::engine
