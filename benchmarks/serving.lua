-- Asks the paths of a file one after the other, each from another address, as rates are per address.
local paths = {}
local at = 0

function init(args)
  for line in io.lines(args[1]) do paths[#paths + 1] = line end
  at = tonumber(args[2]) % #paths
end

function request()
  at = at % #paths + 1
  local from = string.format("10.%d.%d.%d", at % 251, math.random(250), math.random(250))
  return wrk.format("GET", paths[at], { ["X-Forwarded-For"] = from })
end

function done(summary, latency, requests)
  local failed = summary.errors
  io.write(string.format("%f %f %d\n",
    latency:percentile(50) / 1000,
    summary.requests / (summary.duration / 1e6),
    failed.status + failed.timeout + failed.connect + failed.read + failed.write))
end
