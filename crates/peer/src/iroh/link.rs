//! One connection's only stream: frames out, frames in, and how it ends.

use super::board::{self, ENDED, Farewell, KnownNeighbour, LinkChannels, REFUSED, REPLACED, Shared};
use crate::transport::Reason;
use crate::wire::{Frame, HEADER, Header, WireError};
use ::iroh::endpoint::{
    Connection, ConnectionError, ReadError, ReadExactError, RecvStream, SendStream, WriteError,
};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

/// A connection with the stream that both sides opened and accepted.
pub(super) struct Link {
    pub(super) connection: Connection,
    pub(super) out: SendStream,
    pub(super) input: RecvStream,
}

enum End {
    /// This side hangs up.
    HungUp(Farewell),
    /// The other side has said all it had to say.
    Finished,
    Lost(String),
    /// The other side sent something that is not a frame for us.
    Refused(Reason),
    /// A newer link took its place.
    Replaced,
}

/// Serves a link until it ends, and reports that.
pub(super) async fn serve(
    shared: Arc<Shared>,
    known: Arc<KnownNeighbour>,
    link: Link,
    channels: LinkChannels,
) {
    let Link { connection, mut out, mut input } = link;
    let LinkChannels { generation, mut frames, farewell, _alive } = channels;
    let closed = connection.clone();
    let mut writing = Box::pin(write(&mut frames, &mut out));
    // In this order, so that a neighbour that floods us cannot keep us from hanging up.
    let end = tokio::select! {
        biased;
        farewell = farewell => farewell.map_or(End::Replaced, End::HungUp),
        why = &mut writing => End::Refused(why.into()),
        end = read(&shared, &known, generation, &mut input) => end,
        error = closed.closed() => End::Lost(explain(&error, shared.limits.silence)),
    };
    let report = |why: Reason, refused| shared.ended(&known, generation, why, refused);
    match end {
        End::HungUp(Farewell { reason, linger }) => {
            // What is queued still goes out; then the other side is waited for, until it has read it.
            let _ = timeout(linger, async {
                tokio::select! { _ = writing => {}, () = drain(&mut input) => {} }
            })
            .await;
            connection.close(ENDED, reason.as_bytes());
        }
        End::Finished => {
            // The other side has hung up: it waits for our last word, and then says why.
            drop(writing);
            let _ = out.finish();
            let why = match timeout(shared.limits.linger, connection.closed()).await {
                Ok(error) => explain(&error, shared.limits.silence),
                Err(_) => "it ended the link".to_owned(),
            };
            connection.close(ENDED, b"");
            report(why.into(), false);
        }
        End::Lost(why) => {
            connection.close(ENDED, b"");
            report(why.into(), false);
        }
        End::Refused(why) => {
            connection.close(REFUSED, board::clean(&why.to_string()).as_bytes());
            report(why, true);
        }
        End::Replaced => connection.close(REPLACED, b"replaced by a newer connection"),
    }
}

/// Sends frames as they come, straight from the memory in which they were queued, and ends the stream after the last.
/// Comes back only when the other side does what it must not, and says what.
async fn write(frames: &mut mpsc::Receiver<Frame>, out: &mut SendStream) -> &'static str {
    while let Some(Frame { header, payload }) = frames.recv().await {
        let mut parts = [Bytes::from_owner(header.encode()), Bytes::from_owner(payload)];
        match out.write_all_chunks(&mut parts).await {
            Ok(()) => {}
            Err(WriteError::Stopped(_)) => return "it stopped reading",
            // The connection broke: whoever waits for its end has the reason.
            Err(_) => break,
        }
    }
    let _ = out.finish();
    std::future::pending().await
}

/// Reads frames and hands them over, until something is not one.
async fn read(shared: &Shared, known: &KnownNeighbour, generation: u64, input: &mut RecvStream) -> End {
    loop {
        match read_frame(shared, known, generation, input).await {
            Ok(true) => {}
            Ok(false) => return End::Replaced,
            Err(Fault::Finished) => return End::Finished,
            Err(Fault::Wrong(why)) => return End::Refused(why),
            Err(Fault::Lost) => return std::future::pending().await,
        }
    }
}

enum Fault {
    Finished,
    Wrong(Reason),
    Lost,
}

impl From<WireError> for Fault {
    fn from(error: WireError) -> Self {
        Self::Wrong(error.into())
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::ConnectionLost(_) => Self::Lost,
            other => Self::Wrong(other.to_string().into()),
        }
    }
}

/// One frame. Memory is taken when the header is as it must be and there is room; whether the link still counts.
async fn read_frame(
    shared: &Shared,
    known: &KnownNeighbour,
    generation: u64,
    input: &mut RecvStream,
) -> Result<bool, Fault> {
    let mut head = [0; HEADER];
    let first = input.read(&mut head).await?.ok_or(Fault::Finished)?;
    within(shared.limits.grace, "header", input, head.get_mut(first..).unwrap_or_default()).await?;
    let header = Header::decode(&head)?;
    known.neighbour.expected.check(&header)?;
    let Ok(room) = Semaphore::acquire_owned(Arc::clone(&known.room)).await else { return Ok(false) };
    let length =
        usize::try_from(header.length).map_err(|_| Fault::Wrong("too long for this machine".into()))?;
    let mut payload: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
    let bytes = Arc::get_mut(&mut payload).unwrap_or_default();
    within(shared.limits.payload_deadline(header.length), "payload", input, bytes).await?;
    let frame = Frame::join(header, payload)?;
    Ok(shared.frame(known.neighbour.member, generation, frame, room))
}

async fn within(time: Duration, part: &str, input: &mut RecvStream, bytes: &mut [u8]) -> Result<(), Fault> {
    let wanted = bytes.len();
    match timeout(time, input.read_exact(bytes)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(ReadExactError::FinishedEarly(found))) => {
            Err(Fault::Wrong(format!("cut short: {found} of {wanted} bytes of a {part}").into()))
        }
        Ok(Err(ReadExactError::ReadError(error))) => Err(error.into()),
        Err(_) => Err(Fault::Wrong(format!("too slow: its {part} was not here after {time:?}").into())),
    }
}

/// Throws away what still comes, until the other side has finished too.
async fn drain(input: &mut RecvStream) {
    let mut scratch = [0; 4096];
    while let Ok(Some(_)) = input.read(&mut scratch).await {}
}

/// Why a connection broke, in words.
pub(super) fn explain(error: &ConnectionError, silence: Duration) -> String {
    match error {
        ConnectionError::ApplicationClosed(close) if !close.reason.is_empty() => {
            format!("it ended the link: {}", String::from_utf8_lossy(&close.reason))
        }
        ConnectionError::ApplicationClosed(_) => "it ended the link".to_owned(),
        ConnectionError::TimedOut => format!("nothing was heard from it for {silence:?}"),
        other => format!("the connection broke: {other}"),
    }
}
