#include <gtest/gtest.h>

#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Settings, Table,
    testing::Values(
        Row{"wait_least", kPackage, "scheduling { max_wait_time { seconds: 1800 } }", ""},
        Row{"wait_short", kPackage, "scheduling { max_wait_time { seconds: 1799 nanos: 999999999 } }",
            "scheduling.max_wait_time: "},
        Row{"wait_zero", kPackage, "scheduling { max_wait_time { } }", "scheduling.max_wait_time: "},
        Row{"running", kPackage, "scheduling { max_running_time { nanos: 1 } }", ""},
        Row{"running_zero", kPackage, "scheduling { max_running_time { } }", "scheduling.max_running_time: "},
        Row{"running_negative", kPackage, "scheduling { max_running_time { seconds: -5 } }",
            "scheduling.max_running_time: "},
        Row{"priority", kPackage, "scheduling { priority: 1000 }", ""},
        Row{"priority_high", kPackage, "scheduling { priority: 1001 }", "scheduling.priority: "},
        Row{"priority_low", kPackage, "scheduling { priority: -1 }", "scheduling.priority: "},
        Row{"network", kPackage, "network: 'projects/12345/global/networks/myVPC'", ""},
        Row{"network_id", kPackage, "network: 'projects/my-project/global/networks/myVPC'", "network: "},
        Row{"network_short", kPackage, "network: 'myVPC'", "network: "},
        Row{"network_long", kPackage, "network: 'projects/1/global/networks/a/b'", "network: "},
        Row{"account", kPackage, "service_account: 'a@p.iam.gserviceaccount.com'", ""},
        Row{"account_bad", kPackage, "service_account: 'a'", "service_account: "},
        Row{"account_at", kPackage, "service_account: 'a@b@c'", "service_account: "},
        Row{"key", kPackage,
            "encryption_config { kms_key_name: 'projects/p/locations/us-central1/keyRings/r/cryptoKeys/k' }",
            ""},
        Row{"key_form", kPackage, "encryption_config { kms_key_name: 'k' }",
            "encryption_config.kms_key_name: "},
        Row{"key_empty", kPackage, "encryption_config { }", "encryption_config.kms_key_name: "},
        Row{"key_region", kPackage,
            "encryption_config { kms_key_name: 'projects/p/locations/us-east1/keyRings/r/cryptoKeys/k' }",
            "encryption_config.kms_key_name: The key must be in the region of the job, us-central1, not in "
            "us-east1."}),
    RowName);

}  // namespace
}  // namespace trainyard::jobs
