#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/allocator.h"

namespace trainyard::engine {

/// An allocator that can be told to give no more room: what has some keeps it, whoever asks or waits is held
/// here, and asks the allocator behind it once that is over. Any allocator can be behind it; while nothing
/// drains it passes everything on. Loop thread only. Source: docs/adr/0044-operating.md.
class DrainingAllocator final : public Allocator {
 public:
  /// `behind` outlives it.
  DrainingAllocator(boost::asio::any_io_executor loop, Allocator& behind);

  /// From now on nothing new gets room. `why`: what those are told who wait. Again: the reason changes.
  void Drain(placement::Shortage why);
  /// Those that were held ask for room, in the order of their jobs.
  void GoOn();

  /// Jobs that have room and have not given it back, by uid.
  [[nodiscard]] std::vector<std::int64_t> Granted() const;
  [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_.size(); }

  [[nodiscard]] Capabilities capabilities() const override { return behind_.capabilities(); }
  std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events) override;
  void Detach(ReservationKey key) override;
  void Release(ReservationKey key) override;
  void ReleaseDevices(ReservationKey key) override { behind_.ReleaseDevices(key); }
  void HoldDevices(const std::string& attempt_id, const std::string& job_id,
                   const replica::v1::Devices& devices) override {
    behind_.HoldDevices(attempt_id, job_id, devices);
  }
  void ReleaseDevices(const std::string& attempt_id) override { behind_.ReleaseDevices(attempt_id); }
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

 private:
  struct Waiting {
    ReservationRequest request;
    ReservationEvents events;
    bool held = false;          ///< here; else the allocator behind has it
    std::int64_t position = 0;  ///< of one that is held
  };

  std::variant<Grant, Pending> Ask(Waiting& waiting);
  void Hold(Waiting& waiting, std::int64_t position);
  void TellSoon(std::int64_t uid);

  boost::asio::any_io_executor loop_;
  Allocator& behind_;
  std::optional<placement::Shortage> why_;   ///< nothing: it does not drain
  std::map<std::int64_t, Waiting> waiting_;  ///< by job uid: a job has one reservation at a time
  std::map<std::int64_t, ReservationKey> granted_;
  /// Shared with callbacks: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
