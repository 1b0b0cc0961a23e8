//! Sizes and times of links.

use super::LinksError;
use ::iroh::endpoint::{IdleTimeout, MtuDiscoveryConfig, QuicTransportConfig, VarInt};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The longest silence that iroh lets a path live through.
const LONGEST_SILENCE: Duration = Duration::from_secs(15);
/// The longest time between signs of life that iroh allows.
const LONGEST_KEEP_ALIVE: Duration = Duration::from_secs(5);
/// The largest UDP payload that iroh takes: Ethernet's, over IPv4.
const LARGEST_DATAGRAM: u16 = 1472;

/// Sizes and times of links. [`Limits::lan`] is the default; [`Limits::wan`] is for long ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that a neighbour may have on their way to us, received but not yet read included. At least the rate
    /// wanted times the round trip: 100 Mbit/s over 100 ms need 1.25 MB. More than needed costs time on a fast
    /// network: iroh drops what it cannot send within one turn of its task, and from 180 kB on a burst can be that
    /// long (docs/decisions/0008-links.md).
    pub window: u32,
    /// The longest time for a whole connection: handshake, proof of identity, greeting.
    pub connect: Duration,
    /// The longest time for a header once its first byte is here, and what a payload gets on top of
    /// [`Limits::minimum_rate`].
    pub grace: Duration,
    /// Bytes a second that a payload must come with. A neighbour that is slower is one that keeps us busy.
    pub minimum_rate: u32,
    /// A link is down when nothing was heard for this long. At most 15 s.
    pub silence: Duration,
    /// How often a link without traffic gives a sign of life. At most a third of the silence, and 5 s.
    pub keep_alive: Duration,
    /// How long a link that is ended may go on to deliver what was queued.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self::lan()
    }
}

impl Limits {
    /// For neighbours within a few milliseconds.
    pub fn lan() -> Self {
        Self {
            window: 140_000,
            connect: Duration::from_secs(5),
            grace: Duration::from_secs(10),
            minimum_rate: 32_000,
            silence: Duration::from_secs(4),
            keep_alive: Duration::from_secs(1),
            linger: Duration::from_secs(2),
        }
    }

    /// For neighbours across countries or bad lines: a window for 400 Mbit/s over 160 ms, and more patience.
    pub fn wan() -> Self {
        Self {
            window: 8_000_000,
            connect: Duration::from_secs(15),
            grace: Duration::from_secs(20),
            minimum_rate: 8_000,
            silence: Duration::from_secs(15),
            keep_alive: Duration::from_secs(3),
            linger: Duration::from_secs(5),
        }
    }

    /// For a local network if all addresses are in one, otherwise for long ways.
    pub(super) fn for_addresses<'a>(mut addresses: impl Iterator<Item = &'a SocketAddr>) -> Self {
        let near = addresses.all(|address| match address.ip() {
            IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        });
        if near { Self::lan() } else { Self::wan() }
    }

    /// The longest time that a payload may take.
    pub(super) fn payload_deadline(&self, bytes: u64) -> Duration {
        self.grace.saturating_add(Duration::from_secs(bytes / u64::from(self.minimum_rate.max(1))))
    }

    /// Whether the limits can be kept.
    pub(super) fn check(&self) -> Result<(), LinksError> {
        let refuse = |field, value: String, allowed| Err(LinksError::Limit { field, value, allowed });
        if !(10_000..=1 << 30).contains(&self.window) {
            return refuse("window", self.window.to_string(), "from 10000 to 1073741824 bytes");
        }
        if self.minimum_rate == 0 {
            return refuse("minimum_rate", "0".to_owned(), "at least 1 byte per second");
        }
        if self.silence > LONGEST_SILENCE || self.silence < Duration::from_millis(300) {
            return refuse("silence", format!("{:?}", self.silence), "from 0.3 to 15 s");
        }
        if self.keep_alive > LONGEST_KEEP_ALIVE
            || self.keep_alive > self.silence / 3
            || self.keep_alive.is_zero()
        {
            return refuse(
                "keep_alive",
                format!("{:?}", self.keep_alive),
                "at most a third of the silence, and 5 s",
            );
        }
        for (field, time) in [("connect", self.connect), ("grace", self.grace)] {
            if time.is_zero() || time > Duration::from_secs(3600) {
                return refuse(field, format!("{time:?}"), "more than 0 s, at most an hour");
            }
        }
        Ok(())
    }

    /// The same in QUIC's terms, for a side that lets the other open `streams`. Datagrams and one-way streams are
    /// off: nothing here uses them, so whoever does breaks the protocol and loses the connection.
    pub(super) fn transport(&self, streams: u32) -> QuicTransportConfig {
        let mut mtu = MtuDiscoveryConfig::default();
        mtu.upper_bound(LARGEST_DATAGRAM);
        QuicTransportConfig::builder()
            .max_concurrent_bidi_streams(streams.into())
            .max_concurrent_uni_streams(0_u32.into())
            .datagram_receive_buffer_size(None)
            .stream_receive_window(self.window.into())
            .receive_window(VarInt::from(self.window))
            .mtu_discovery_config(Some(mtu))
            .max_idle_timeout(IdleTimeout::try_from(self.silence).ok())
            .default_path_max_idle_timeout(self.silence)
            .keep_alive_interval(self.keep_alive)
            .default_path_keep_alive_interval(self.keep_alive)
            .build()
    }
}
