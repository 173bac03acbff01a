#include "stores/store/memory_job_store.h"

#include "stores/store/job_store_conformance.h"

namespace trainyard::store {
namespace {

class MemoryFixture {
 public:
  JobStore& store() { return store_; }

 private:
  MemoryJobStore store_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, JobStoreConformance, MemoryFixture);

}  // namespace
}  // namespace trainyard::store
