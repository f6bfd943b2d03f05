const target = 'job="$job", namespace="$namespace"';

/** What dashboards for controller-runtime commonly ask, written down after such dashboards rather than copied from one. */
export const dashboardQueries: readonly string[] = [
  `controller_runtime_active_workers{${target}}`,
  `controller_runtime_max_concurrent_reconciles{${target}}`,
  `sum(rate(controller_runtime_reconcile_total{${target}}[5m])) by (instance, pod)`,
  `sum(rate(controller_runtime_reconcile_total{${target}, result="error"}[5m])) by (controller)`,
  `sum by (controller, result) (rate(controller_runtime_reconcile_total{${target}}[5m]))`,
  `sum(rate(controller_runtime_reconcile_errors_total{${target}}[5m])) by (instance, pod)`,
  `histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{${target}}[5m])))`,
  `sum(rate(controller_runtime_reconcile_time_seconds_sum{${target}}[5m])) by (controller)`,
  ...[0.5, 0.9, 0.99].flatMap((quantile) => [
    `histogram_quantile(${quantile}, sum(rate(workqueue_queue_duration_seconds_bucket{${target}}[5m])) by (instance, name, le))`,
    `histogram_quantile(${quantile}, sum(rate(workqueue_work_duration_seconds_bucket{${target}}[5m])) by (instance, name, le))`,
  ]),
  `sum(rate(workqueue_adds_total{${target}}[5m])) by (instance, name)`,
  `sum(workqueue_depth{${target}}) by (name)`,
  `max by (name) (workqueue_depth{${target}})`,
  `rate(workqueue_unfinished_work_seconds{${target}}[5m])`,
  `workqueue_longest_running_processor_seconds{${target}}`,
  `sum(rate(workqueue_retries_total{${target}}[5m])) by (instance, name)`,
  `sum(rate(rest_client_requests_total{${target}, code=~"2.."}[5m])) by (method, host, code)`,
  `histogram_quantile(0.99, sum(rate(rest_client_request_duration_seconds_bucket{${target}}[5m])) by (verb, le))`,
  `sum(rate(controller_runtime_webhook_requests_total{${target}}[5m])) by (webhook, code)`,
  `histogram_quantile(0.99, sum(rate(controller_runtime_webhook_latency_seconds_bucket{${target}}[5m])) by (webhook, le))`,
  `leader_election_master_status{${target}}`,
  `rate(process_cpu_seconds_total{${target}}[5m]) * 100`,
  `process_resident_memory_bytes{${target}}`,
];
